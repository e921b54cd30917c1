/// The resolver is loaded into a process by LD_PRELOAD. It has no functions to call. resolver.c describes it.
