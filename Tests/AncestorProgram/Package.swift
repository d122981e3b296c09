// swift-tools-version: 6.1
import PackageDescription

// A program as its author would keep it: a package of its own that depends on FMData and OpenCombine and on nothing else.
//
//     swift run --package-path Tests/AncestorProgram ancestor-program "$(the URL that `fmdata sandbox` prints)"
//
// CI builds the same sources as a target of the main package, which has all that they need already; see
// `.ci/check-ancestor-program`.
let package = Package(
    name: "AncestorProgram",
    platforms: [.macOS(.v13)],
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
            path: "Sources/AncestorProgram"
        )
    ],
    swiftLanguageModes: [.v6]
)
