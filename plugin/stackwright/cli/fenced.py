"""`python -m stackwright.cli.fenced FOLDER... -- COMMAND...`: a command that reads in these folders only."""

from __future__ import annotations

import sys
from pathlib import Path

from stackup_lib.core.orphans import end_with_pipe
from stackwright.__main__ import main
from stackwright.run.fence import fence_in

if __name__ == "__main__":
    at = sys.argv.index("--")
    folders = [Path(word) for word in sys.argv[1:at]]
    sys.argv[1:] = ["--no-cache", *sys.argv[at + 1 :]]  # behind the fence nothing is written
    end_with_pipe(sys.stdin.fileno())  # closed by the end of the calling process
    fence_in(folders)
    main()
