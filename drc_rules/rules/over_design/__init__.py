"""OVR: is the board over-specified for its workload and its measured lengths; information only."""
