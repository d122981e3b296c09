import FMData
import FMModel

/// Asks a host for its layouts.
struct SchemaReader {
    let database: DataAPI.Database

    /// What came of asking: layouts, and what went wrong with others.
    struct Answer {
        /// The names that were asked for.
        var asked: [String]
        /// The names of layouts that were not, though the host has them.
        var leftOut: [String]
        var layouts: [LayoutDescription] = []
        var failures: [(layout: String, error: FMRest.APIError)] = []
    }

    /// What the host says of some layouts. Throws what would go wrong with every other layout too: a host that is gone, an
    /// account that is refused.
    func read(_ choice: LayoutChoice) async throws -> Answer {
        let items = try await database.getLayoutNames().firstValue()
        let list = items.flatMap(\.allLayouts)
        let names = try choice.names(of: items)
        var answer = Answer(asked: names.asked, leftOut: names.leftOut)
        for name in names.asked {
            do {
                let metadata = try await database.addLayout(name).getLayoutMetadata().firstValue()
                let table = list.first { ExactName($0.name) == ExactName(name) }?.table
                answer.layouts.append(LayoutDescription(name: name, table: table, metadata))
            } catch let error as FMRest.APIError where error.isOfOneLayout {
                answer.failures.append((name, error))
            }
        }
        return answer
    }
}

extension FMRest.APIError {
    /// Whether another layout may well be read: FileMaker, or what stands before it, has answered, and not about the account.
    fileprivate var isOfOneLayout: Bool {
        switch code {
        case .fileMaker: fileMakerCode?.category != .account
        case .notDataAPI, .decoding, .responseTooLarge: true
        default: false
        }
    }
}
