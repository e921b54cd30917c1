/// The write recorder is loaded into a process by LD_PRELOAD. It has no functions to call. recorder.c describes it.
