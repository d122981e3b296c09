// The servers are a target of their own, so that `Tests/Benchmarks` can use them without CustomDump and Testing.
@_exported public import FMTestHost
// Its clock is the one that tests of the library move, too.
@_exported public import FMTesting
