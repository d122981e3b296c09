// swift-tools-version: 6.2
import PackageDescription

/// CI sets `FMDATA_STRICT=1`, which makes every warning in this package's targets an error. (SwiftPM silences warnings
/// of dependencies, so the flag cannot be given on the command line for all targets.) It uses no unsafe flags: a
/// package that depends on this one could not be built with them if the variable happens to be set.
let strict: [SwiftSetting] = Context.environment["FMDATA_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

/// `Tests/Fuzz/run` sets `FMDATA_FUZZ` to the folder of this package. Then there is a product `fuzz`, and the fuzzed
/// code is compiled for libFuzzer, which records the code an input reaches, and for the address sanitizer. Everything
/// else is the same. That needs unsafe flags, which are forbidden in dependencies. A checkout that another program
/// depends on lies in a different folder, so the variable has no effect there, even if it is set.
let isFuzzed = Context.environment["FMDATA_FUZZ"] == Context.packageDirectory
let fuzzing: [SwiftSetting] = isFuzzed ? [.unsafeFlags(["-sanitize=fuzzer,address"])] : []

/// `Tests/Simulation/run` sets `FMDATA_SIMULATION=1`: the simulation is then a program instead of a test suite, so that
/// it can be built in release without the other tests.
let isSimulated = Context.environment["FMDATA_SIMULATION"] != nil

/// `.ci/run` sets `FMDATA_CHECKS=1`: then the package has the tests too that do not prove a library by itself, which
/// take as long to compile as the libraries: those of `fmdata`, of fleets and of programs that are killed, the samples
/// of the documentation, generated models, and the simulation. They are targets instead of packages, so that they share
/// one build with the rest, and test what is internal.
let isChecked = Context.environment["FMDATA_CHECKS"] == "1"

let settings: [SwiftSetting] =
    strict + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ]

let openCombine: Target.Dependency = .product(name: "OpenCombine", package: "OpenCombine")
let customDump: Target.Dependency = .product(name: "CustomDump", package: "swift-custom-dump")
/// Without it, a difference that `expectNoDifference` finds is printed but fails no test on Linux.
let issueReporting: Target.Dependency = .product(
    name: "IssueReportingTestSupport",
    package: "xctest-dynamic-overlay"
)
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let zlib: Target.Dependency = .target(name: "CFMZlib", condition: .when(traits: ["Compression"]))
func nio(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-nio") }

let simulation: [Target.Dependency] = [
    "FMData", "FMDataCore", "FMDataRecords", "FMDataLive", "FMDataFleet", "FMHTTP", "FMSandbox", "FMTestStore",
    openCombine, logging,
    nio("NIOCore"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers"),
]

/// A program made of the samples in articles. It is compiled like a reader's package: without the settings of this
/// package, and with the warnings a reader would get.
func samples(_ name: String, path: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            "FMData", "FMSandbox", "FMTesting", "FMWebhooks", "SampleSurroundings", openCombine, logging,
            .product(name: "OpenCombineDispatch", package: "OpenCombine"),
        ],
        path: path,
        swiftSettings: strict,
        plugins: ["SamplesPlugin"]
    )
}

/// Tests of one of FMData's modules, by whole calls against the sandbox as well.
func dataTests(_ name: String, of modules: Target.Dependency..., exclude: [String] = []) -> Target {
    .testTarget(
        name: name,
        dependencies: modules + [
            "FMData", "FMHTTP", "FMSandbox", "FMTestSupport", openCombine, customDump, issueReporting, logging,
            nio("NIOCore"), nio("NIOEmbedded"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers"),
        ],
        exclude: exclude,
        swiftSettings: settings
    )
}

let package = Package(
    name: "FMData",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "FMData", targets: ["FMData"]),
        // For programs that need calls alone.
        .library(name: "FMDataCore", targets: ["FMDataCore"]),
        .library(name: "FMWebhooks", targets: ["FMWebhooks"]),
        .library(name: "FMSandbox", targets: ["FMSandbox"]),
        .library(name: "FMTesting", targets: ["FMTesting"]),
        // Each of these is empty without the trait after which it is named, and resolves no package.
        .library(name: "FMDataMetrics", targets: ["FMDataMetrics"]),
        .library(name: "FMDataTracing", targets: ["FMDataTracing"]),
        .library(name: "FMDataLifecycle", targets: ["FMDataLifecycle"]),
        .library(name: "FMDataFleet", targets: ["FMDataFleet"]),
        .executable(name: "fmdata", targets: ["FMDataCLI"]),
        .plugin(name: "FMModelBuild", targets: ["FMModelBuild"]),
        .plugin(name: "FMModelCommand", targets: ["FMModelCommand"]),
        // Internal: `Tests/Benchmarks` uses it to measure the HTTP client alone.
        .library(name: "_FMHTTP", targets: ["FMHTTP"]),
        // Internal: `Tests/Benchmarks` measures against the servers of the tests.
        .library(name: "_FMTestHost", targets: ["FMTestHost"]),
    ],
    traits: [
        .default(enabledTraits: ["Compression"]),
        .trait(name: "Compression", description: "gzip and deflate bodies, by the zlib of the system"),
        .trait(name: "Metrics", description: "FMDataMetrics: figures of calls and sessions, by swift-metrics"),
        .trait(name: "Tracing", description: "FMDataTracing: spans of calls, by swift-distributed-tracing"),
        .trait(
            name: "Fleet",
            description: "FMDataFleet: sessions that processes share by Redis or Valkey, sealed by swift-crypto"
        ),
        .trait(name: "Lifecycle", description: "FMDataLifecycle: a server as a service of swift-service-lifecycle"),
    ],
    // Examples, samples and test support are targets of this package instead of separate packages: `swift run
    // quickstart` must work in the root, a test can start only programs of its own package, and a plugin can use only
    // tools of its own. A package that depends on this one resolves and builds none of them, since no product reaches
    // them; `.ci/check-dependent` checks that.
    dependencies: [
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        // Resolved only with the trait of each.
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.0"..<"5.0.0"),
        .package(url: "https://github.com/pointfreeco/swift-custom-dump", from: "1.7.0"),
        .package(url: "https://github.com/pointfreeco/xctest-dynamic-overlay", from: "1.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CFMZlib"),
        .target(
            name: "FMHTTP",
            dependencies: [
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOTLS"), nio("NIOConcurrencyHelpers"),
                nioSSL, zlib, openCombine, logging,
            ],
            swiftSettings: settings + fuzzing
        ),
        // Values, requests, sessions, calls, finds, containers.
        .target(
            name: "FMDataCore",
            dependencies: [
                "FMHTTP", openCombine, logging,
                nio("NIOCore"), nio("NIOFoundationCompat"), nio("NIOConcurrencyHelpers"),
            ],
            swiftSettings: settings + fuzzing
        ),
        // What takes several calls: pages, batches, journals, saves, commits, relations.
        .target(
            name: "FMDataRecords",
            dependencies: [
                "FMDataCore", "FMHTTP", openCombine, logging, nio("NIOCore"), nio("NIOConcurrencyHelpers"),
            ],
            swiftSettings: settings + fuzzing
        ),
        // Records as they change.
        .target(
            name: "FMDataLive",
            dependencies: [
                "FMDataRecords", "FMDataCore", "FMHTTP", openCombine, logging, nio("NIOCore"),
                nio("NIOConcurrencyHelpers"),
            ],
            swiftSettings: settings + fuzzing
        ),
        // All three under one name.
        .target(
            name: "FMData",
            dependencies: ["FMDataCore", "FMDataRecords", "FMDataLive"],
            swiftSettings: settings + fuzzing
        ),
        .target(
            name: "FMWebhooks",
            dependencies: [
                "FMData", openCombine, logging,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers"), nioSSL,
            ],
            swiftSettings: settings + fuzzing
        ),
        .target(
            name: "FMSandbox",
            dependencies: [
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers"),
                nio("NIOFoundationCompat"), nioSSL, zlib, logging,
            ],
            resources: [.copy("Resources")],
            swiftSettings: settings
        ),
        // For tests of programs: no host, no port, no wait.
        .target(
            name: "FMTesting",
            dependencies: ["FMData", openCombine, nio("NIOCore"), nio("NIOConcurrencyHelpers")],
            swiftSettings: settings
        ),
        .target(
            name: "FMDataMetrics",
            dependencies: [
                "FMData", openCombine,
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FMDataTracing",
            dependencies: [
                "FMData", openCombine,
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "FMDataLifecycle",
            dependencies: [
                "FMData",
                .product(
                    name: "ServiceLifecycle",
                    package: "swift-service-lifecycle",
                    condition: .when(traits: ["Lifecycle"])
                ),
            ],
            swiftSettings: settings
        ),
        // Without the trait it lacks its door, `Fleet`, since nothing is sealed then; everything behind the door is
        // tested by this package.
        .target(
            name: "FMDataFleet",
            dependencies: [
                "FMData", logging, nioSSL,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOConcurrencyHelpers"),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["Fleet"])),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: settings + fuzzing
        ),
        // Models from layouts. No NIO and no other dependency, since the plugins build it in every package that uses
        // them.
        .target(name: "FMModel", swiftSettings: settings),
        .executableTarget(name: "FMModelTool", dependencies: ["FMModel"], swiftSettings: settings),
        .plugin(
            name: "FMModelBuild",
            capability: .buildTool,
            dependencies: ["FMModelTool"],
            path: "Sources/FMModelBuild"
        ),
        .plugin(
            name: "FMModelCommand",
            capability: .command(
                intent: .custom(verb: "generate-models", description: "Writes Swift models of FileMaker layouts."),
                permissions: [
                    .writeToPackageDirectory(reason: "The models are written into the folder Generated of each target.")
                ]
            ),
            dependencies: ["FMModelTool"],
            path: "Sources/FMModelCommand"
        ),
        .executableTarget(
            name: "FMDataCLI",
            dependencies: [
                "FMData", "FMHTTP", "FMDataFleet", "FMSandbox", "FMModel", openCombine, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "quickstart",
            dependencies: ["FMData", "FMSandbox", openCombine],
            path: "Examples/Quickstart",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "containers",
            dependencies: ["FMData", "FMSandbox", openCombine],
            path: "Examples/Containers",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "models",
            dependencies: ["FMData", "FMSandbox", openCombine],
            path: "Examples/Models",
            exclude: ["World/FileMaker", "Harbour/FileMaker"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "multiserver",
            dependencies: ["FMData", "FMSandbox", openCombine],
            path: "Examples/MultiServer",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "nightly",
            dependencies: ["FMData", "FMSandbox", openCombine],
            path: "Examples/Nightly",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "dashboard",
            dependencies: [
                "FMData", "FMSandbox", openCombine, .product(name: "OpenCombineDispatch", package: "OpenCombine"),
            ],
            path: "Examples/Dashboard",
            swiftSettings: settings
        ),
        .target(
            name: "FMTestHost",
            dependencies: [
                "FMDataCore", nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers"), nioSSL,
            ],
            path: "Tests/FMTestHost",
            swiftSettings: settings
        ),
        .target(name: "FMTestStart", path: "Tests/FMTestStart"),
        .target(
            name: "FMTestSupport",
            dependencies: [
                "FMHTTP", "FMData", "FMSandbox", "FMTesting", "FMTestHost", "FMTestStart",
                openCombine, customDump, logging, nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"),
                nio("NIOConcurrencyHelpers"), nio("NIOEmbedded"), nioSSL, zlib,
            ],
            path: "Tests/FMTestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "FMHTTPTests",
            dependencies: [
                "FMHTTP", "FMTestSupport", openCombine, customDump, issueReporting, logging,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOTLS"), nio("NIOConcurrencyHelpers"),
                nio("NIOEmbedded"), nioSSL,
            ],
            swiftSettings: settings
        ),
        // It tests the subscriptions of all three.
        dataTests("FMDataCoreTests", of: "FMDataCore", "FMDataRecords", "FMDataLive", exclude: ["Answers"]),
        dataTests("FMDataRecordsTests", of: "FMDataCore", "FMDataRecords"),
        dataTests("FMDataLiveTests", of: "FMDataCore", "FMDataRecords", "FMDataLive"),
        .testTarget(
            name: "FMWebhooksTests",
            dependencies: [
                "FMWebhooks", "FMData", "FMDataCore", "FMDataRecords", "FMDataLive", "FMHTTP", "FMSandbox",
                "FMTestSupport", openCombine, customDump, issueReporting,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers"), nio("NIOEmbedded"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FMTestingTests",
            dependencies: [
                "FMTesting", "FMData", "FMSandbox", "FMTestSupport", openCombine, customDump, issueReporting,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FMSandboxTests",
            dependencies: [
                "FMSandbox", "FMTestSupport", customDump, issueReporting, logging,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOHTTP1"), nio("NIOConcurrencyHelpers"), nioSSL,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FMModelTests",
            dependencies: ["FMModel", "FMData", "FMTestSupport", customDump, issueReporting],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)

if isSimulated || isChecked {
    package.targets += [
        .target(
            name: "FMTestStore",
            dependencies: ["FMDataFleet"],
            path: "Tests/FMTestStore",
            swiftSettings: settings
        ),
        isSimulated
            ? .executableTarget(
                name: "simulate",
                dependencies: simulation,
                path: "Tests/Simulation",
                exclude: ["SimulationTests.swift", "PlantedBugs", "run", "plant-bugs"],
                swiftSettings: settings
            )
            : .testTarget(
                name: "SimulationTests",
                dependencies: simulation + ["FMTestSupport", customDump, issueReporting],
                path: "Tests/Simulation",
                exclude: ["main.swift", "PlantedBugs", "run", "plant-bugs"],
                swiftSettings: settings
            ),
    ]
}

if isChecked {
    package.targets += [
        .testTarget(
            name: "FMDataFleetTests",
            dependencies: [
                "FMDataFleet", "FMData", "FMDataCore", "FMDataRecords", "FMDataLive", "FMDataCLI", "FMSandbox",
                "FMTestStore", "FMTestSupport",
                openCombine, customDump, issueReporting, logging,
                nio("NIOCore"), nio("NIOPosix"), nio("NIOConcurrencyHelpers"), nio("NIOEmbedded"), nioSSL,
            ],
            swiftSettings: settings
        ),
        // What only further processes show: kills, and a file that several share.
        .testTarget(
            name: "FMProcessTests",
            dependencies: [
                "FMData", "FMDataCore", "FMDataRecords", "FMDataLive", "FMSandbox", "FMTestSupport", openCombine,
                customDump, issueReporting,
            ],
            swiftSettings: settings
        ),
        // Models of layouts with difficult names and of saved answers, made by the plugin in each build.
        .target(
            name: "FMModelSamples",
            dependencies: ["FMData"],
            path: "Tests/FMModelSamples",
            exclude: ["FileMaker"],
            swiftSettings: settings,
            plugins: ["FMModelBuild"]
        ),
        .testTarget(
            name: "FMModelSamplesTests",
            dependencies: ["FMModelSamples", "FMModel", "FMData", "FMTestSupport", customDump, issueReporting],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FMDataCLITests",
            dependencies: [
                "FMDataCLI", "FMData", "FMModel", "FMSandbox", "FMTestSupport", customDump, issueReporting,
                nio("NIOHTTP1"), nioSSL,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DocumentationTests",
            dependencies: [
                "FMData", "FMSandbox", "FMTestSupport", "samples-in-main-file", "samples-in-functions", openCombine,
                customDump, issueReporting,
            ],
            swiftSettings: settings
        ),
        // The samples of README and DocC, compiled as a reader would paste them.
        .plugin(
            name: "SamplesPlugin",
            capability: .buildTool,
            dependencies: ["sample-writer"],
            path: "Tests/Samples/Plugin"
        ),
        .target(name: "SampleSurroundings", path: "Tests/Samples/Surroundings", swiftSettings: settings),
        .executableTarget(name: "sample-writer", path: "Tests/Samples/Writer", swiftSettings: settings),
        samples("samples-in-main-file", path: "Tests/Samples/InMainFile"),
        samples("samples-in-functions", path: "Tests/Samples/InFunctions"),
    ]
}

if isFuzzed {
    package.targets += [
        .systemLibrary(name: "LibFuzzer", path: "Tests/Fuzz/LibFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: [
                "FMData", "FMDataCore", "FMDataRecords", "FMDataLive", "FMDataFleet", "FMHTTP", "FMTestSupport",
                "FMWebhooks", "LibFuzzer", nio("NIOCore"),
                nio("NIOHTTP1"),
            ],
            path: "Tests/Fuzz/Sources",
            swiftSettings: settings + fuzzing,
            // The default linker fails on the compiler's own runtime.
            linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address", "-use-ld=lld"])]
        ),
    ]
}
