import Foundation

extension Verb {
    /// The error in the values of a finished call; `nil` if they are right.
    ///
    /// - Parameters:
    ///   - isVisible: whether the account of the call may see the step's record.
    ///   - lasting: the records that exist all the time.
    func complaint(about values: [Seen], step id: Int, isVisible: Bool = true, lasting: Set<Int>) -> String? {
        let own = isVisible ? Seen.record(id: id + 1, marker: "r\(id)") : .nothing
        switch self {
        case .findStream where !isVisible: return values.isEmpty ? nil : "expected nothing, got \(values)"
        case .read, .shared, .find, .findAlternatives, .findStream:
            return values == [own] ? nil : "expected \(own), got \(values)"
        case .echoScript: return values == [.text("e\(id)")] ? nil : "expected its own parameter, got \(values)"
        case .asOther: return values == [.text("a\(id)")] ? nil : "expected its own parameter, got \(values)"
        case .asOAuthUser: return values == [.text("o\(id)")] ? nil : "expected its own parameter, got \(values)"
        case .oAuthProviders: return values == [.text("Sandbox")] ? nil : "expected the one provider, got \(values)"
        case .pinned: return values == [.text("p\(id)")] ? nil : "expected the global of its own session, got \(values)"
        case .findNothing: return values == [.text("0")] ? nil : "expected nothing, got \(values)"
        case .readMissing: return "found a record that is not there"
        case .download, .downloadStream:
            let all = values.reduce(into: Data()) { all, value in
                if case .bytes(let bytes) = value { all += bytes }
            }
            return all == HostPlan.content(id) ? nil : "got \(all.count) other bytes"
        case .stream:
            let ids = values.map { if case .record(let id, let marker) = $0, !marker.isEmpty { id } else { -1 } }
            let isRising = zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }
            return isRising && !ids.contains(-1) ? nil : "records came out of order: \(ids)"
        case .pages:
            let ids = values.compactMap { if case .record(let id, _) = $0 { id } else { nil } }
            if Set(ids).count < ids.count { return "records came twice: \(ids)" }
            let missing = lasting.subtracting(ids)
            return missing.isEmpty ? nil : "records \(missing.sorted()) are missing among \(ids)"
        case .recordsByID: return values == [own, own] ? nil : "expected \(own) twice, got \(values)"
        case .joined: return values == [own, .nothing, own] ? nil : "expected \(own), nothing, \(own), got \(values)"
        case .batchCreate, .batchEdit, .batchUpsert, .commit:
            let indexes = values.compactMap { if case .row(let index, _) = $0 { index } else { nil } }
            return indexes.sorted() == Array(0..<Verb.rows) ? nil : "got outcomes of the rows \(indexes)"
        // The rows are checked as they arrive.
        case .journal: return nil
        case _ where isWatching: return "finished, though nothing says that there is no more"
        default:
            return values.count == 1 ? nil : "published \(values.count) values"
        }
    }
}
