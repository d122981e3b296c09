import FMDataCore
import OpenCombine

/// Finds the children of a group of values: usually by one find for all their keys.
struct ChildFinder<Parent, Key: DataAPI.FindValue & Encodable, Child: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<Child>.Record
    typealias Pair = DataAPI.Joined<Parent, Record>

    var children: DataAPI.FoundSet<Child>
    let parentKey: @Sendable (Parent) -> Key?
    let childKey: Child.CodingKeys
    /// Large, so that usually all children of a group come on one page.
    var pageSize = 5_000

    /// Publishes the values with their children, in the order of the values, as one list.
    func pairs(of parents: [Parent]) -> AnyPublisher<[Pair], FMRest.APIError> {
        do {
            let keys = JoinKeys(try parents.map(key))
            return found(in: keys.rounds)
                .map { answers in Self.pairs(of: parents, answers) }
                .eraseToAnyPublisher()
        } catch {
            return Fail(error: FMRest.APIError(wrapping: error, otherwise: .encoding)).eraseToAnyPublisher()
        }
    }

    /// The result of one find: the children of each value, by the value's index in the group.
    private struct FoundChildren {
        var children: [Int: [Record]] = [:]
        var hasDrifted = false
    }

    private func found(in round: JoinKeys<Key>.Round) -> AnyPublisher<[FoundChildren], FMRest.APIError> {
        children.narrowed(to: DataAPI.FindField(childKey).isOneOf(round.keys))
            .pages(.offset, pageSize: pageSize)
            .collect()
            .tryMap { pages in try answer(pages, to: round) }
            .mapError(FMRest.APIError.init(wrapping:))
            .orderedMap(concurrency: 1) { answer in
                guard let answer else { return found(in: round.apart) }
                return Just([answer]).setFailureType(to: FMRest.APIError.self).eraseToAnyPublisher()
            }
            .collect()
            .eraseToAnyPublisher()
    }

    private func found(in rounds: [JoinKeys<Key>.Round]) -> AnyPublisher<[FoundChildren], FMRest.APIError> {
        rounds.publisher
            .setFailureType(to: FMRest.APIError.self)
            .orderedMap(concurrency: 1) { round in found(in: round) }
            .collect()
            .eraseToAnyPublisher()
    }

    /// Assigns the records to their values. Returns `nil` if that is impossible for one of them.
    private func answer(_ pages: [ItemPage<Record>], to round: JoinKeys<Key>.Round) throws -> FoundChildren? {
        var answer = FoundChildren(hasDrifted: pages.contains { $0.progress.driftCount > 0 })
        for record in pages.flatMap(\.items) {
            guard let owners = round.owners(of: try key(of: record)) else { return nil }
            for owner in owners { answer.children[owner, default: []].append(record) }
        }
        return answer
    }

    private static func pairs(of parents: [Parent], _ answers: [FoundChildren]) -> [Pair] {
        let hasDrifted = answers.contains(where: \.hasDrifted)
        return parents.enumerated().map { place, parent in
            Pair(
                parent: parent,
                children: answers.flatMap { $0.children[place] ?? [] },
                hasDrifted: hasDrifted
            )
        }
    }

    // MARK: Keys

    private func key(of parent: Parent) throws -> (key: Key, name: JoinKey)? {
        guard let key = parentKey(parent), key.findText?.isEmpty == false else { return nil }
        let fields = try encoder.wireValue(of: [Self.name: key], .fields).members
        return JoinKey(fields.first?.value).map { (key, $0) }
    }

    private func key(of record: Record) throws -> JoinKey {
        let fields = try encoder.wireValue(of: record.fieldData, .fields).members
        guard let key = JoinKey(fields.first { $0.name == childKey.stringValue }?.value) else {
            throw FMRest.APIError.joinWithoutKey(childKey.stringValue)
        }
        return key
    }

    private var encoder: FMEncoder {
        let server = children.layout.server
        return FMEncoder(options: server.encoding, recordEncoder: server.config.encoder)
    }

    private static var name: String { "key" }
}

extension FMRest.APIError {
    /// The error for a record without its key. Leaving the record out would claim that it does not exist.
    fileprivate static func joinWithoutKey(_ field: String) -> FMRest.APIError {
        var error = FMRest.APIError(
            .decoding,
            reason:
                "A record has no value in the field \"\(field)\", by which it was found, so that nobody can tell to which "
                + "value it belongs.",
            hint: "The record's type has to hold the field as the layout shows it."
        )
        error.fields = [field]
        return error
    }
}
