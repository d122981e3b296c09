import FMData
import FMModel

/// Asks a host for its layouts.
struct SchemaReader {
    let database: DataAPI.Database

    /// What came of asking: layouts, and what went wrong with others.
    struct Answer {
        var layouts: [LayoutDescription] = []
        var failures: [(layout: String, error: any Error)] = []
    }

    /// - Parameter names: the layouts; `nil` is all that the account sees.
    func read(_ names: [String]?) async throws -> Answer {
        let list = try await database.getLayoutNames().firstValue().flatMap(\.allLayouts)
        // One answer for each name, however often it is in the list or in the arguments.
        var seen: Set<ExactName> = []
        let wanted = (names ?? list.map(\.name)).filter { seen.insert(ExactName($0)).inserted }
        var answer = Answer()
        for name in wanted {
            do {
                let metadata = try await database.addLayout(name).getLayoutMetadata().firstValue()
                let table = list.first { ExactName($0.name) == ExactName(name) }?.table
                answer.layouts.append(LayoutDescription(name: name, table: table, metadata))
            } catch {
                answer.failures.append((name, error))
            }
        }
        return answer
    }
}
