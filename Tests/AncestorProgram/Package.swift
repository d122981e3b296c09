// swift-tools-version: 6.2
import PackageDescription

// A program as its author would keep it: a package of its own that depends only on FMData and OpenCombine.
//
//     swift run --package-path Tests/AncestorProgram ancestor-program "$(the URL that `fmdata sandbox` prints)"
//
// `.ci/check-ancestor-program` does this, in a folder where nearly everything that it needs has been built already.
let package = Package(
    name: "AncestorProgram",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "FMData", path: "../.."),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .executableTarget(
            name: "ancestor-program",
            dependencies: [
                .product(name: "FMData", package: "FMData"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            path: "Sources/AncestorProgram",
            swiftSettings: Context.environment["FMDATA_STRICT"] == nil ? [] : [.treatAllWarnings(as: .error)]
        )
    ],
    swiftLanguageModes: [.v6]
)
