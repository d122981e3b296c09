// Nothing is called: linking this target is enough. See FMTestStart.c.
