import Foundation

extension Solution {
    /// Names in ``Solution/sample``.
    public enum Sample {
        /// The database.
        public static let database = "World"
        /// An account with full access.
        public static let user = "admin"
        /// Its password.
        public static let password = "secret"
        /// An account that may only read.
        public static let guestUser = "guest"
        /// Its password.
        public static let guestPassword = "welcome"
        /// An account of the simulated OAuth provider.
        public static let oauthUser = "ada@example.com"
        /// An account with a Claris ID.
        public static let clarisUser = "grace@example.com"
        /// The ID token of ``clarisUser`` from the simulated Claris ID service.
        public static let clarisToken = "sample-claris-id-token"
    }

    /// The database `World`: the countries of ISO 3166 and the time zones of the IANA database (both public domain),
    /// and contacts for writing.
    ///
    /// - Layout `Countries`: `Code`, `Name`, `ZoneCount` (a calculation); portal `Zones` with `Zones::Name`,
    ///   `Zones::Latitude`, `Zones::Longitude`, `Zones::Comments`.
    /// - Layout `Zones`: `Name`, `CountryCode`, `Countries` (all codes, one per line), `Latitude` and `Longitude` in
    ///   degrees, `Comments`, `Countries::Name` (the main country); portal `Shared` with `Country::Code`,
    ///   `Country::Name`.
    /// - Layout `Contacts`: `Id` (serial), `Name`, `Email`, `City`, `Status` (value list `Statuses`), `Balance`
    ///   (number), `Birthday` (date), `WakeUp` (time), `CreatedAt`, `ModifiedAt` (timestamps, auto-entered), `Notes`,
    ///   `Nicknames` (three repetitions), `Photo` (container), `Label` (a calculation), `gFilter` (global); portal
    ///   `Phones` with `Phones::Kind` and `Phones::Number`, whose rows may be created, edited and deleted.
    /// - Layout `Phones`: `ContactId`, `Kind`, `Number`.
    /// - Layout `Names / 100 % Übersicht` in the folder `Admin`: `Name`, `City` of contacts.
    /// - Scripts `Echo` (returns its parameter), `Count Found`, `Fail` (error 5), `Fail With` (the error in its
    ///   parameter), `Keep Active` (constrains the found set), `Visit All` (a loop, so its error is 101), `Set Filter`
    ///   (sets `gFilter`), `Wait` (waits for the seconds in its parameter, 1 without parameter, at most an hour), a
    ///   separator `-`.
    ///
    /// It is the solution file `World.json` among the module's resources, with its records next to it.
    public static let sample: Solution = {
        let file = resources.appendingPathComponent("sample/World.json")
        do {
            return try load(from: file)
        } catch {
            preconditionFailure("\(file.lastPathComponent) is a resource of this module: \(error)")
        }
    }()

    /// The folder of the module's resources: beside the program, where SwiftPM and a release of `fmdata` put it, or in
    /// the checkout. `Bundle.module` would end a program that was copied without it. The tables `iso3166.tab` and
    /// `zone1970.tab` in it are the sources of the sample's countries and zones.
    static let resources: URL = {
        let installed = Bundle.main.bundleURL.appendingPathComponent("FMData_FMSandbox.resources/Resources")
        if FileManager.default.fileExists(atPath: installed.path) { return installed }
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return source.appendingPathComponent("Resources")
    }()

    /// Whether the module's resources are there: a program may have been copied without them.
    package static var sampleIsInstalled: Bool { FileManager.default.fileExists(atPath: resources.path) }
}
