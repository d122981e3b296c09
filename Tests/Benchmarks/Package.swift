// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of FMData do not download the clients it is compared with.
let package = Package(
    name: "FMDataBenchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        // The traits change nothing in FMData itself: a row without hooks is one of a program without traits.
        .package(name: "FMData", path: "../..", traits: [.defaults, "Metrics", "Tracing", "Fleet"]),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                .product(name: "FMData", package: "FMData"),
                .product(name: "FMSandbox", package: "FMData"),
                .product(name: "FMDataMetrics", package: "FMData"),
                .product(name: "FMDataTracing", package: "FMData"),
                .product(name: "FMDataFleet", package: "FMData"),
                .product(name: "_FMHTTP", package: "FMData"),
                .product(name: "_FMTestHost", package: "FMData"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
                .enableUpcomingFeature("InternalImportsByDefault"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
