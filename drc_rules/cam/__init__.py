"""What CAM at the fab usually asks about a stackup, found before it is sent."""
