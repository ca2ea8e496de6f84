"""OVR: is the board dearer than its workload and its measured lengths ask for; information only."""
