// zlib as the system has it, for the package trait `Compression`. Without the trait nothing includes this.
#pragma once

#if __has_include(<zlib.h>)
// Input is `const`.
#define ZLIB_CONST
#include <zlib.h>
#else
#error "zlib.h is missing. Install zlib1g-dev (Debian, Ubuntu) or zlib-devel (Fedora, Amazon Linux), or build without the package trait Compression."
#endif
