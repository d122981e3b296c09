// swift-tools-version: 6.2
import PackageDescription

// Where values arrive, depending on the isolation settings of a package: one program, compiled with each combination of
// the settings that matter, its operators once more in a type that is `@main`, and a program that blocks its main
// thread.
// `.ci/check-isolation` runs them all.
let nonsending = SwiftSetting.enableUpcomingFeature("NonisolatedNonsendingByDefault")
let mainActor = SwiftSetting.defaultIsolation(MainActor.self)
let strict: [SwiftSetting] = Context.environment["FMDATA_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]

func program(_ name: String, _ settings: SwiftSetting...) -> Target {
    .executableTarget(
        name: name,
        dependencies: [
            .product(name: "FMData", package: "FMData"),
            .product(name: "FMSandbox", package: "FMData"),
            .product(name: "OpenCombine", package: "OpenCombine"),
            .product(name: "OpenCombineDispatch", package: "OpenCombine"),
            .product(name: "Logging", package: "swift-log"),
        ],
        // Each path is a link to the same folder: SwiftPM does not allow two targets to share one.
        path: "Sources/\(name)",
        swiftSettings: settings + strict
    )
}

let package = Package(
    name: "Isolation",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "FMData", path: "../.."),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    ],
    targets: [
        program("swift-5", .swiftLanguageMode(.v5)),
        program("swift-6", .swiftLanguageMode(.v6)),
        program("swift-5-nonsending", .swiftLanguageMode(.v5), nonsending),
        program("swift-6-nonsending", .swiftLanguageMode(.v6), nonsending),
        program("swift-5-main-actor", .swiftLanguageMode(.v5), mainActor),
        program("swift-6-main-actor", .swiftLanguageMode(.v6), mainActor),
        program("swift-5-both", .swiftLanguageMode(.v5), nonsending, mainActor),
        program("swift-6-both", .swiftLanguageMode(.v6), nonsending, mainActor),
        program("at-main-5", .swiftLanguageMode(.v5)),
        program("at-main-6", .swiftLanguageMode(.v6)),
        program("blocked", .swiftLanguageMode(.v6)),
    ]
)
