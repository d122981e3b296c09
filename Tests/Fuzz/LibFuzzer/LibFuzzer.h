// What the compiler's runtime has for programs with a `main` of their own (-sanitize=fuzzer brings it in).
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*test)(const uint8_t *start, size_t count));
