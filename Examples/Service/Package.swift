// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as a team's service is: the main package does not depend on a web framework.
// `.ci/check-service` runs it.
let strict: [SwiftSetting] = Context.environment["FMDATA_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

let package = Package(
    name: "Service",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "FMData", path: "../..", traits: [.defaults, "Metrics", "Lifecycle"]),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        .executableTarget(
            name: "service",
            dependencies: [
                .product(name: "FMData", package: "FMData"),
                .product(name: "FMDataMetrics", package: "FMData"),
                .product(name: "FMDataLifecycle", package: "FMData"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Sources",
            swiftSettings: strict
        )
    ],
    swiftLanguageModes: [.v6]
)
