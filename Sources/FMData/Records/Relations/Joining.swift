import OpenCombine

/// How the children of a group of values are found: by one find for all their keys, as a rule.
struct Joining<Parent, Key: DataAPI.FindValue & Encodable, Child: RecordFields>: Sendable {
    typealias Record = DataAPI.TypedLayout<Child>.Record
    typealias Pair = DataAPI.Joined<Parent, Record>

    var children: DataAPI.FoundSet<Child>
    let parentKey: @Sendable (Parent) -> Key?
    let childKey: Child.CodingKeys
    /// As a rule all children of a group come on one page.
    var pageSize = 5_000

    /// The values with their children, in the order of the values, as one list.
    func pairs(of parents: [Parent]) -> AnyPublisher<[Pair], FMRest.APIError> {
        do {
            let keys = JoinKeys(try parents.map(key))
            return keys.rounds.publisher
                .setFailureType(to: FMRest.APIError.self)
                .orderedMap(concurrency: 1) { round in found(in: round) }
                .collect()
                .map { answers in Self.pairs(of: parents, answers) }
                .eraseToAnyPublisher()
        } catch {
            return Fail(error: FMRest.APIError(wrapping: error, otherwise: .encoding)).eraseToAnyPublisher()
        }
    }

    /// What a find has brought: the children of each value, by its place in the group.
    private struct Answer {
        var children: [Int: [Record]] = [:]
        var hasDrifted = false
    }

    private func found(in round: JoinKeys<Key>.Round) -> AnyPublisher<[Answer], FMRest.APIError> {
        children.narrowed(to: DataAPI.FindField(childKey).isOneOf(round.keys))
            .pages(.offset, pageSize: pageSize)
            .collect()
            .tryMap { pages in
                var answer = Answer(hasDrifted: pages.contains { $0.progress.driftCount > 0 })
                for record in pages.flatMap(\.items) {
                    for owner in try owners(of: record, in: round) {
                        answer.children[owner, default: []].append(record)
                    }
                }
                return [answer]
            }
            .mapError(FMRest.APIError.init(wrapping:))
            .eraseToAnyPublisher()
    }

    private static func pairs(of parents: [Parent], _ answers: [Answer]) -> [Pair] {
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

    private func owners(of record: Record, in round: JoinKeys<Key>.Round) throws -> [Int] {
        let fields = try encoder.wireValue(of: record.fieldData, .fields).members
        guard let key = JoinKey(fields.first { $0.name == childKey.stringValue }?.value) else {
            throw FMRest.APIError.joinWithoutKey(childKey.stringValue)
        }
        guard let owners = round.owners(of: key) else {
            throw FMRest.APIError.joinOfOtherKey(childKey.stringValue)
        }
        return owners
    }

    private var encoder: FMEncoder {
        let server = children.layout.server
        return FMEncoder(options: server.encoding, recordEncoder: server.config.encoder)
    }

    private static var name: String { "key" }
}

extension FMRest.APIError {
    fileprivate static func joinWithoutKey(_ field: String) -> FMRest.APIError {
        joinFailed(field, "has no value in the field \"\(field)\", by which it was found")
    }

    fileprivate static func joinOfOtherKey(_ field: String) -> FMRest.APIError {
        joinFailed(field, "has a value in the field \"\(field)\" that is like none of the keys it was found by")
    }

    /// To leave the record out would be to say that it does not exist.
    private static func joinFailed(_ field: String, _ what: String) -> FMRest.APIError {
        var error = FMRest.APIError(
            .decoding,
            reason: "A record \(what), so that nobody can tell to which value it belongs.",
            hint: "The record's type has to hold the field as the layout shows it."
        )
        error.fields = [field]
        return error
    }
}
