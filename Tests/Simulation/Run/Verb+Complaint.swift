import Foundation

extension Verb {
    /// What is wrong with the values of a call that has finished.
    func complaint(about values: [Seen], step id: Int) -> String? {
        let own = Seen.record(id: id + 1, marker: "r\(id)")
        switch self {
        case .read, .find, .findInSeveralCalls, .findStream:
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
        default:
            return values.count == 1 ? nil : "published \(values.count) values"
        }
    }
}
