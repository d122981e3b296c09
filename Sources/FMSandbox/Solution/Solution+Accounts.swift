extension Solution {
    /// An account that may log in.
    public struct Account: Codable, Sendable {
        /// How the account authenticates.
        public enum Kind: String, Codable, Sendable, CaseIterable {
            /// Name and password, stored in the file.
            case fileMaker
            /// An OAuth provider; the name is the provider's name for the user.
            case oauth
            /// A Claris ID; the name is its e-mail address.
            case clarisID
        }

        /// The account name; it is case-insensitive.
        public var name: String
        /// The password; empty for accounts that authenticate elsewhere.
        public var password: String
        /// How the account authenticates. The default is ``Kind/fileMaker``.
        public var kind: Kind
        /// The name of its privilege set. The default is `[Full Access]`.
        public var privilegeSet: String
        /// Whether it may log in; if not, logins fail with 210. The default is true.
        public var isActive: Bool

        /// Creates an account.
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

    /// The privileges of the accounts that have this set.
    package struct PrivilegeSet: Codable, Sendable {
        /// The name.
        package var name: String
        /// Whether the set has the extended privilege `fmrest`; without it, logins fail with 212.
        package var allowsDataAPI: Bool
        /// Whether the set has the extended privilege `fmodata`; without it, OData calls fail with 212.
        package var allowsOData: Bool
        /// Whether records may be created; if not, creating fails with 200.
        package var canCreate: Bool
        /// Whether records may be changed; if not, editing fails with 200.
        package var canEdit: Bool
        /// Whether records may be deleted; if not, deleting fails with 200.
        package var canDelete: Bool
        /// Whether scripts may be run; if not, running one fails with 9.
        package var canRunScripts: Bool
        /// Layouts that are not visible; a request for one fails with 9.
        package var hiddenLayouts: [String]
        /// Fields, as `Table::Field`, whose values are not visible: they read as `<No Access>`, and writing them fails
        /// with 202.
        package var hiddenFields: [String]
        /// Fields, as `Table::Field`, that may be read; changing them fails with 201.
        package var readOnlyFields: [String]
        /// The visible records of a table, by the table's name: those for which the formula is true. All records of a
        /// table without a formula are visible.
        ///
        ///     ["Orders": "Salesperson = Get ( AccountName )"]
        ///
        /// Finds leave the other records out. In lists and as related records their fields read as `<No Access>` and
        /// their portals are empty. Getting them by id, changing, duplicating or deleting them fails with 200.
        package var visibleRecords: [String: String]

        /// Creates a privilege set that allows everything by default.
        package init(
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
        /// The privileges in a file in which the session has no account.
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
        package init(from decoder: any Decoder) throws {
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
