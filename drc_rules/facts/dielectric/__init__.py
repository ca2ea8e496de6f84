"""Each dielectric ply of a stackup, and how far its Dk, Df and Tg are known: declared, in the file, or on a sheet."""
