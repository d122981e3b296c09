import FMData
import FMModel

/// Reads layouts from a host.
struct SchemaReader {
    let database: DataAPI.Database

    init(database: DataAPI.Database) { self.database = database.retrying() }

    /// Reads from the host of a visit.
    init(_ visit: HostVisit) async throws {
        // A layout with long value lists has some megabytes, and an answer without end would fill the memory.
        self.init(database: try await visit.open(nil) { $0.maximumResponseBytes = 32 << 20 })
    }

    /// The layouts, and the errors of those that could not be read.
    struct Answer {
        /// The names of the layouts to read.
        var asked: [String]
        /// The names of layouts that the host has and that were not to be read.
        var leftOut: [String]
        var layouts: [LayoutDescription] = []
        var failures: [(layout: String, error: FMRest.APIError)] = []
    }

    /// Reads the metadata of layouts. Throws errors that every other layout would cause too: a host that cannot be
    /// reached, an account that is refused.
    func read(_ choice: LayoutChoice) async throws -> Answer {
        let items = try await database.getLayoutNames().firstValue()
        let list = items.flatMap(\.allLayouts)
        let names = try choice.names(of: items)
        var answer = Answer(asked: names.asked, leftOut: names.leftOut)
        for name in names.asked {
            do {
                let metadata = try await database.addLayout(name).getLayoutMetadata().firstValue()
                let table = list.first { SchemaName($0.name) == SchemaName(name) }?.table
                answer.layouts.append(LayoutDescription(name: name, table: table, metadata))
            } catch let error as FMRest.APIError where error.isOfOneLayout {
                answer.failures.append((name, error))
            }
        }
        return answer
    }
}

extension FMRest.APIError {
    /// Whether other layouts may still be readable: FileMaker or a server before it has answered, and not about the
    /// account.
    fileprivate var isOfOneLayout: Bool {
        switch code {
        case .fileMaker: fileMakerCode?.category != .account
        case .notDataAPI, .decoding, .responseTooLarge: true
        // No URL can have its name, `..`.
        case .invalidRequest: true
        default: false
        }
    }
}
