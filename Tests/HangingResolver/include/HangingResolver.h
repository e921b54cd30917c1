/// The hanging resolver is loaded into a process by LD_PRELOAD. It has nothing to call; resolver.c describes it.
