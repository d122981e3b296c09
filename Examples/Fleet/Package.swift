// swift-tools-version: 6.2
import PackageDescription

// A package of its own, as a team's program is: the trait `Fleet` brings a package of ciphers, which the main package
// does without. `Tests/Ecosystem` builds the same sources, and `.ci/check-fleet` runs them.
let package = Package(
    name: "Fleet",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "FMData", path: "../..", traits: [.defaults, "Fleet"])
    ],
    targets: [
        .executableTarget(
            name: "fleet",
            dependencies: [
                .product(name: "FMData", package: "FMData"),
                .product(name: "FMDataFleet", package: "FMData"),
                .product(name: "FMSandbox", package: "FMData"),
            ],
            path: "Sources"
        )
    ],
    swiftLanguageModes: [.v6]
)
