extension Solution {
    /// Somebody who may log in.
    public struct Account: Codable, Sendable {
        /// How the account proves who it is.
        public enum Kind: String, Codable, Sendable, CaseIterable {
            /// Name and password, kept in the file.
            case fileMaker
            /// An OAuth provider; the name is what the provider calls the user.
            case oauth
            /// A Claris ID; the name is its e-mail address.
            case clarisID
        }

        /// The account name, compared without case.
        public var name: String
        /// The password. Empty for accounts that prove themselves elsewhere.
        public var password: String
        /// How it proves who it is. The default is ``Kind/fileMaker``.
        public var kind: Kind
        /// The name of its privilege set. The default is `[Full Access]`.
        public var privilegeSet: String
        /// Whether it may log in (210 otherwise). The default is true.
        public var isActive: Bool

        /// An account.
        public init(
            name: String,
            password: String,
            kind: Kind = .fileMaker,
            privilegeSet: String = "[Full Access]",
            isActive: Bool = true
        ) {
            self.name = name
            self.password = password
            self.kind = kind
            self.privilegeSet = privilegeSet
            self.isActive = isActive
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case name, password, kind, privilegeSet, isActive }

        /// Reads the documented JSON form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            password = try container.decode(String.self, forKey: .password, default: "")
            kind = try container.decodeChoiceIfPresent(Kind.self, forKey: .kind) ?? .fileMaker
            privilegeSet = try container.decode(String.self, forKey: .privilegeSet, default: "[Full Access]")
            isActive = try container.decode(Bool.self, forKey: .isActive, default: true)
        }
    }

    /// What the accounts of this set may do.
    public struct PrivilegeSet: Codable, Sendable {
        /// The name.
        public var name: String
        /// Whether it has the extended privilege `fmrest`; without it there is no login (212).
        public var allowsDataAPI: Bool
        /// Whether it has the extended privilege `fmodata`; without it there is no OData call (212), where the sandbox has any.
        public var allowsOData: Bool
        /// Whether records may be created (200 otherwise).
        public var canCreate: Bool
        /// Whether records may be changed (200 otherwise).
        public var canEdit: Bool
        /// Whether records may be deleted (200 otherwise).
        public var canDelete: Bool
        /// Whether scripts may be run (9 otherwise).
        public var canRunScripts: Bool
        /// Layouts that are not to be seen (9 when asked for).
        public var hiddenLayouts: [String]
        /// Fields, as `Table::Field`, whose values are not to be seen: they read `<No Access>`, and 202 when written.
        public var hiddenFields: [String]
        /// Fields, as `Table::Field`, that may be read but not changed (201).
        public var readOnlyFields: [String]
        /// Which records of a table may be seen, by the table's name: those for which the formula is true. A table that
        /// is not named shows all.
        ///
        ///     ["Orders": "Salesperson = Get ( AccountName )"]
        ///
        /// Finds leave the others out. Where they are listed or related their fields read `<No Access>` and their
        /// portals are empty. Asked for by their ids, changed, duplicated or deleted they answer 200.
        public var visibleRecords: [String: String]

        /// A privilege set; everything is allowed unless said otherwise.
        public init(
            name: String,
            allowsDataAPI: Bool = true,
            allowsOData: Bool = true,
            canCreate: Bool = true,
            canEdit: Bool = true,
            canDelete: Bool = true,
            canRunScripts: Bool = true,
            hiddenLayouts: [String] = [],
            hiddenFields: [String] = [],
            readOnlyFields: [String] = [],
            visibleRecords: [String: String] = [:]
        ) {
            self.name = name
            self.allowsDataAPI = allowsDataAPI
            self.allowsOData = allowsOData
            self.canCreate = canCreate
            self.canEdit = canEdit
            self.canDelete = canDelete
            self.canRunScripts = canRunScripts
            self.hiddenLayouts = hiddenLayouts
            self.hiddenFields = hiddenFields
            self.readOnlyFields = readOnlyFields
            self.visibleRecords = visibleRecords
        }

        static let fullAccess = PrivilegeSet(name: "[Full Access]")
        /// Of somebody who has no account.
        static let noAccess = PrivilegeSet(name: "[No Access]", canCreate: false, canEdit: false, canDelete: false)
        static let readOnlyAccess = PrivilegeSet(
            name: "[Read-Only Access]",
            canCreate: false,
            canEdit: false,
            canDelete: false
        )

        enum CodingKeys: String, CodingKey, CaseIterable {
            case name, allowsDataAPI, allowsOData, canCreate, canEdit, canDelete, canRunScripts
            case hiddenLayouts, hiddenFields, readOnlyFields, visibleRecords
        }

        /// Reads the documented JSON form.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.strictContainer(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            allowsDataAPI = try container.decode(Bool.self, forKey: .allowsDataAPI, default: true)
            allowsOData = try container.decode(Bool.self, forKey: .allowsOData, default: true)
            canCreate = try container.decode(Bool.self, forKey: .canCreate, default: true)
            canEdit = try container.decode(Bool.self, forKey: .canEdit, default: true)
            canDelete = try container.decode(Bool.self, forKey: .canDelete, default: true)
            canRunScripts = try container.decode(Bool.self, forKey: .canRunScripts, default: true)
            hiddenLayouts = try container.decode([String].self, forKey: .hiddenLayouts, default: [])
            hiddenFields = try container.decode([String].self, forKey: .hiddenFields, default: [])
            readOnlyFields = try container.decode([String].self, forKey: .readOnlyFields, default: [])
            visibleRecords = try container.decode([String: String].self, forKey: .visibleRecords, default: [:])
        }
    }
}
