"""What is sent to a fab, as files state it: Gerber, drill, IPC-2581, ODB++, IPC-D-356. Facts only, no opinion."""
