import Foundation

extension Solution {
    /// Names in ``Solution/sample``.
    public enum Sample {
        /// The database.
        public static let database = "World"
        /// An account that may do everything.
        public static let user = "admin"
        /// Its password.
        public static let password = "secret"
        /// An account that may read only.
        public static let guestUser = "guest"
        /// Its password.
        public static let guestPassword = "welcome"
        /// An account of the played OAuth provider.
        public static let oauthUser = "ada@example.com"
        /// An account with a Claris ID.
        public static let clarisUser = "grace@example.com"
        /// The ID token that the played Claris ID service gave ``clarisUser``.
        public static let clarisToken = "sample-claris-id-token"
    }

    /// The database `World`: the countries of ISO 3166 and the time zones of the IANA database (both public domain), and
    /// contacts to write to.
    ///
    /// - Layout `Countries`: `Code`, `Name`, `ZoneCount` (a calculation); portal `Zones` with `Zones::Name`,
    ///   `Zones::Latitude`, `Zones::Longitude`, `Zones::Comments`.
    /// - Layout `Zones`: `Name`, `CountryCode`, `Countries` (all codes, one on each line), `Latitude` and `Longitude` in
    ///   degrees, `Comments`, `Countries::Name` (the main country); portal `Shared` with `Country::Code`, `Country::Name`.
    /// - Layout `Contacts`: `Id` (serial), `Name`, `Email`, `City`, `Status` (value list `Statuses`), `Balance` (number),
    ///   `Birthday` (date), `WakeUp` (time), `CreatedAt`, `ModifiedAt` (timestamps, auto-entered), `Notes`, `Nicknames`
    ///   (three repetitions), `Photo` (container), `Label` (a calculation), `gFilter` (global); portal `Phones` with
    ///   `Phones::Kind` and `Phones::Number`, whose rows may be created, edited and deleted.
    /// - Layout `Phones`: `ContactId`, `Kind`, `Number`.
    /// - In the folder `Admin` the layout `Names / 100 % Übersicht`: `Name`, `City` of contacts.
    /// - Scripts `Echo` (returns its parameter), `Count Found`, `Fail` (error 5), `Fail With` (the error its parameter
    ///   names), `Keep Active` (constrains the found set), `Visit All` (a loop, so its error is 101), `Set Filter` (sets
    ///   `gFilter`), `Wait` (as many seconds as its parameter says), a separator `-`.
    public static let sample: Solution = {
        var solution = Solution(
            name: Sample.database,
            tables: [countriesTable, zonesTable, contactsTable, phonesTable],
            occurrences: [Occurrence(name: "Country", table: "Countries")],
            relationships: [
                // A zone may belong to many countries; `Countries::Name` is that of the main one.
                Relationship("Country", "Zones", matches: [.init("Code", "Countries")]),
                Relationship("Zones", "Countries", matches: [.init("CountryCode", "Code")]),
                Relationship(
                    "Contacts",
                    "Phones",
                    matches: [.init("Id", "ContactId")],
                    rightRules: .init(allowsCreation: true, deletesWithOther: true)
                ),
            ],
            valueLists: [
                ValueList(name: "Statuses", values: ["new", "active", "paused", "closed"]),
                ValueList(name: "Kinds", values: ["mobile", "work", "home"]),
                ValueList(name: "Country Codes", field: "Countries::Code", displayField: "Countries::Name"),
            ],
            layouts: sampleLayouts,
            scripts: sampleScripts,
            accounts: [
                Account(name: Sample.user, password: Sample.password),
                Account(name: Sample.guestUser, password: Sample.guestPassword, privilegeSet: "[Read-Only Access]"),
                Account(name: Sample.oauthUser, password: "", kind: .oauth),
                Account(name: Sample.clarisUser, password: Sample.clarisToken, kind: .clarisID),
            ]
        )
        solution.addScript("Wait") { context in
            let seconds = FMNumber(reading: context.parameter)?.int ?? 1
            try await context.wait(for: .seconds(max(0, min(seconds, 3600))))
            return .result("waited")
        }
        solution.addScript("Fail With") { context in .error(FMNumber(reading: context.parameter)?.int ?? -1) }
        return solution
    }()

    private static let sampleLayouts: [LayoutItem] = [
        .layout(
            Layout(
                name: "Countries",
                table: "Country",
                fields: ["Code", "Name", "ZoneCount"],
                portals: [
                    Portal(
                        table: "Zones",
                        fields: ["Zones::Name", "Zones::Latitude", "Zones::Longitude", "Zones::Comments"]
                    )
                ]
            )
        ),
        .layout(
            Layout(
                name: "Zones",
                table: "Zones",
                fields: ["Name", "CountryCode", "Countries", "Latitude", "Longitude", "Comments", "Countries::Name"],
                portals: [Portal(table: "Country", name: "Shared", fields: ["Country::Code", "Country::Name"])]
            )
        ),
        .layout(
            Layout(
                name: "Contacts",
                table: "Contacts",
                fields: [
                    "Id", "Name", "Email", "City", LayoutField("Status", display: .popupMenu, valueList: "Statuses"),
                    "Balance", LayoutField("Birthday", display: .calendar), "WakeUp", "CreatedAt", "ModifiedAt",
                    "Notes",
                    "Nicknames", "Photo", "Label", "gFilter",
                ],
                portals: [
                    Portal(
                        table: "Phones",
                        fields: [
                            LayoutField("Phones::Kind", display: .popupList, valueList: "Kinds"), "Phones::Number",
                        ]
                    )
                ]
            )
        ),
        .layout(Layout(name: "Phones", table: "Phones", fields: ["ContactId", "Kind", "Number"])),
        .folder(
            "Admin",
            [.layout(Layout(name: "Names / 100 % Übersicht", table: "Contacts", fields: ["Name", "City"]))]
        ),
    ]

    private static let sampleScripts: [ScriptItem] = [
        .script(Script(name: "Echo", steps: [.exit("Get ( ScriptParameter )")])),
        .script(Script(name: "Count Found", steps: [.exit("Get ( FoundCount )")])),
        .script(Script(name: "-")),
        .folder(
            "Contacts",
            [
                .script(Script(name: "Keep Active", steps: [.constrain("Status = \"active\"")])),
                .script(
                    Script(
                        name: "Visit All",
                        steps: [.set("$visited", to: "0"), .loop([.set("$visited", to: "$visited + 1")])]
                    )
                ),
                .script(Script(name: "Set Filter", steps: [.set("Contacts::gFilter", to: "Get ( ScriptParameter )")])),
            ]
        ),
        .script(Script(name: "Fail", steps: [.error(5)])),
        .script(Script(name: "Fail With")),
        .script(Script(name: "Wait")),
    ]

    // MARK: Tables

    private static var countriesTable: Table {
        Table(
            name: "Countries",
            fields: [
                Field("Code", validation: Validation(notEmpty: true, unique: true)),
                Field("Name", validation: Validation(notEmpty: true)),
                Field("ZoneCount", .number, calculation: "Count ( Zones::Name )"),
            ],
            records: rows(of: "iso3166.tab").map { Record(["Code": $0[0], "Name": $0[1]]) }
        )
    }

    private static var zonesTable: Table {
        Table(
            name: "Zones",
            fields: [
                Field("Name", validation: Validation(notEmpty: true, unique: true)),
                Field("CountryCode"), Field("Countries"), Field("Latitude", .number), Field("Longitude", .number),
                Field("Comments"),
            ],
            records: rows(of: "zone1970.tab").map { row in
                let codes = row[0].split(separator: ",").map(String.init)
                let place = degrees(row[1])
                return Record([
                    "Name": row[2], "CountryCode": codes[0], "Countries": codes.joined(separator: "\r"),
                    "Latitude": place.latitude, "Longitude": place.longitude, "Comments": row.count > 3 ? row[3] : "",
                ])
            }
        )
    }

    private static var contactsTable: Table {
        Table(
            name: "Contacts",
            fields: [
                Field("Id", .number, autoEnter: .serial),
                Field("Name"), Field("Email"), Field("City"),
                Field("Status", validation: Validation(valueList: "Statuses")),
                Field("Balance", .number), Field("Birthday", .date), Field("WakeUp", .time),
                Field("CreatedAt", .timestamp, autoEnter: .creationTimestamp, prohibitsModification: true),
                Field("ModifiedAt", .timestamp, autoEnter: .modificationTimestamp, prohibitsModification: true),
                Field("Notes"), Field("Nicknames", repetitions: 3), Field("Photo", .container),
                Field("Label", calculation: "Name & If ( City = \"\" ; \"\" ; \", \" & City )"),
                Field("gFilter", isGlobal: true),
            ],
            records: [
                Record([
                    "Id": "1", "Name": "Ada Lovelace", "Email": "ada@example.com", "City": "London", "Status": "active",
                    "Balance": "1815.12", "Birthday": "12/10/1815", "WakeUp": "06:30:00",
                    "CreatedAt": "01/02/2024 09:00:00", "ModifiedAt": "01/02/2024 09:00:00",
                    "Notes": "First line\rSecond line", "Nicknames": "Countess",
                    "Nicknames(2)": "Enchantress of Numbers",
                ]),
                Record([
                    "Id": "2", "Name": "Émilie du Châtelet", "Email": "emilie@example.com", "City": "Paris",
                    "Status": "paused", "Balance": "-17.5", "Birthday": "12/17/1706", "WakeUp": "05:00:00",
                    "CreatedAt": "02/29/2024 23:59:59", "ModifiedAt": "02/29/2024 23:59:59",
                ]),
                Record([
                    "Id": "3", "Name": "Grace Hopper", "Email": "grace@example.com", "City": "New York",
                    "Status": "active", "Balance": "9007199254740993", "Birthday": "12/09/1906",
                    "CreatedAt": "03/01/2024 00:00:00", "ModifiedAt": "03/01/2024 00:00:00",
                ]),
            ]
        )
    }

    private static var phonesTable: Table {
        Table(
            name: "Phones",
            fields: [Field("ContactId", .number), Field("Kind"), Field("Number")],
            records: [
                Record(["ContactId": "1", "Kind": "work", "Number": "+44 20 7946 0001"]),
                Record(["ContactId": "1", "Kind": "home", "Number": "+44 20 7946 0002"]),
                Record(["ContactId": "3", "Kind": "mobile", "Number": "+1 212 555 0142"]),
            ]
        )
    }

    /// The rows of a table of the IANA time-zone database: columns separated by tabs, comments after `#`.
    private static func rows(of file: String) -> [[String]] {
        let url = Bundle.module.bundleURL.appendingPathComponent("Resources/\(file)")
        guard let text = try? String(contentsOf: url, encoding: .utf8) else {
            preconditionFailure("\(file) is a resource of this module")
        }
        return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        }
    }

    /// Decimal degrees out of ISO 6709: `±DDMM±DDDMM` or `±DDMMSS±DDDMMSS`.
    private static func degrees(_ text: String) -> (latitude: String, longitude: String) {
        guard let middle = text.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }) else { return ("", "") }
        return (decimal(text[..<middle], degreeDigits: 2), decimal(text[middle...], degreeDigits: 3))
    }

    private static func decimal(_ text: Substring, degreeDigits: Int) -> String {
        let digits = text.dropFirst()
        let degrees = Int(digits.prefix(degreeDigits)) ?? 0
        let minutes = Int(digits.dropFirst(degreeDigits).prefix(2)) ?? 0
        let seconds = Int(digits.dropFirst(degreeDigits + 2)) ?? 0
        // Rounded to four decimals, about ten metres; whole seconds carry no more.
        let tenThousandths = ((degrees * 3600 + minutes * 60 + seconds) * 10_000 + 1800) / 3600
        let fraction = String(tenThousandths % 10_000)
        let sign = text.first == "-" && tenThousandths > 0 ? "-" : ""
        let padded = String(repeating: "0", count: 4 - fraction.count) + fraction
        return FMNumber(literal: "\(sign)\(tenThousandths / 10_000).\(padded)")?.text ?? ""
    }
}
