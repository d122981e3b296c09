extension DataAPI.Database {
    /// One entry of the list of scripts: a script, or a folder of entries. A script named "-" is a separator of the
    /// menu.
    ///
    /// Source: Claris Data API guide, "Get script names".
    public indirect enum ScriptItem: Hashable, Sendable {
        /// A script.
        case script(_ name: String)
        /// A folder with its entries, in order.
        case folder(_ name: String, scripts: [ScriptItem])

        /// The name of the script or the folder.
        public var name: String {
            switch self {
            case .script(let name), .folder(let name, _): name
            }
        }

        /// The names of the scripts in the entry at any depth, in order, without separators.
        public var allScripts: [String] {
            switch self {
            case .script("-"): []
            case .script(let name): [name]
            case .folder(_, let scripts): scripts.flatMap(\.allScripts)
            }
        }
    }
}

extension DataAPI.Database.ScriptItem: Comparable {
    /// Compares names, of folders and scripts alike.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.name < rhs.name }
}

extension DataAPI.Database.ScriptItem: Decodable {
    enum CodingKeys: CodingKey {
        case name, folderScriptNames
    }

    /// Reads an entry of a server's response.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let name = try container.decode(String.self, forKey: .name)
        if let scripts = try container.decodeIfPresent([Self].self, forKey: .folderScriptNames) {
            self = .folder(name, scripts: scripts)
        } else {
            self = .script(name)
        }
    }
}

struct ScriptListBody: Decodable {
    var scripts: [DataAPI.Database.ScriptItem]

    /// The names of the scripts at any depth, in order.
    var names: [String] { scripts.flatMap(\.allScripts) }
}

extension ScriptListBody: DataAPIResponse {}
