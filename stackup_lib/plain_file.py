"""Files that come with a board, unless a link leads from them to a device.

A link to `/dev/zero` in somebody's repository would fill the memory, one to a terminal would wait for ever.
"""

from __future__ import annotations

import errno
import stat
from pathlib import Path

DEVICE = "it is a device"


def no_device(path: Path) -> Path:
    """Return the path, when what it leads to has an end.

    Raises:
        OSError: there is nothing, or it is a device.
    """
    mode = path.stat().st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise OSError(errno.EINVAL, DEVICE)
    return path
