// swift-tools-version: 6.2
import PackageDescription

// FMData's parts behind traits: metrics, tracing, service lifecycle, fleets, and the samples of articles that need
// them. A package of its own, since the main package resolves their dependencies only for those who ask for them.
// `.ci/check-ecosystem` runs it.
let strict: [SwiftSetting] = Context.environment["FMDATA_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

let fmData: [Target.Dependency] = [
    .product(name: "FMData", package: "FMData"),
    .product(name: "FMSandbox", package: "FMData"),
    .product(name: "OpenCombine", package: "OpenCombine"),
]

let package = Package(
    name: "Ecosystem",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "FMData", path: "../..", traits: [.defaults, "Metrics", "Tracing", "Lifecycle", "Fleet"]),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    ],
    targets: [
        // The samples, compiled like a reader's package. `Shared` is a link to what makes them in the main package: as
        // a product there, a plugin would be compiled by everybody who depends on the package.
        .plugin(name: "SamplesPlugin", capability: .buildTool, dependencies: ["sample-writer"], path: "Shared/Plugin"),
        .executableTarget(name: "sample-writer", path: "Shared/Writer", swiftSettings: strict),
        .target(name: "SampleSurroundings", path: "Shared/Surroundings", swiftSettings: strict),
        .executableTarget(
            name: "samples-with-traits",
            dependencies: fmData + [
                "SampleSurroundings",
                .product(name: "FMDataMetrics", package: "FMData"),
                .product(name: "FMDataTracing", package: "FMData"),
                .product(name: "FMDataLifecycle", package: "FMData"),
                .product(name: "FMDataFleet", package: "FMData"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Samples",
            swiftSettings: strict,
            plugins: ["SamplesPlugin"]
        ),
        .testTarget(
            name: "SamplesTests",
            dependencies: [
                "samples-with-traits", "Programs", .product(name: "FMSandbox", package: "FMData"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "MetricsTests",
            dependencies: fmData + [
                .product(name: "FMDataMetrics", package: "FMData"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TracingTests",
            dependencies: fmData + [
                .product(name: "FMDataTracing", package: "FMData"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LifecycleTests",
            dependencies: fmData + [
                .product(name: "FMDataLifecycle", package: "FMData"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "FleetTests",
            dependencies: fmData + [
                .product(name: "FMDataFleet", package: "FMData"), "fleet-member", "Programs",
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: strict
        ),
        // `FleetExample` is a link to Examples/Fleet, which is built here and not once more.
        .executableTarget(
            name: "fleet",
            dependencies: [
                .product(name: "FMData", package: "FMData"),
                .product(name: "FMDataFleet", package: "FMData"),
                .product(name: "FMSandbox", package: "FMData"),
            ],
            path: "FleetExample",
            swiftSettings: strict
        ),
        // Programs that tests start: a store, and members of a fleet.
        .target(
            name: "Programs",
            dependencies: [.product(name: "NIOConcurrencyHelpers", package: "swift-nio")],
            path: "Tests/Programs",
            swiftSettings: strict
        ),
        // One process of a fleet, which the tests start, stop and kill.
        .executableTarget(
            name: "fleet-member",
            dependencies: [
                .product(name: "FMData", package: "FMData"),
                .product(name: "FMDataFleet", package: "FMData"), "Programs",
            ],
            path: "Tests/FleetMember",
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
