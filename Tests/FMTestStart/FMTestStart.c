#include "FMTestStart.h"

#include <stdlib.h>

// Swift Testing runs all tests at once. Of four thousand, each then lasts for minutes, whatever it does, and on a slow
// machine the time limits of clients and servers in them end what would have worked. So sixteen run at a time, which
// takes less time in all; a value that the environment gives is left alone. Swift Testing reads the variable when the
// program has started, before which this has run.
__attribute__((constructor)) static void limitTestsAtOnce(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "16", 0);
}
