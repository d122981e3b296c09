import FMDataCore
import FMDataRecords

/// A changed record that has to be read, as a list of versions showed it.
struct ChangedRecord: Hashable, Sendable {
    let id: Int
    /// Its place among the query's records, from 1; `nil` if unknown.
    var place: Int?
    /// Its key, if keys are read along with the ids; `nil` for an empty one.
    var key: PageKey?
}

/// How changed records are read: by their keys, by their places or one by one.
enum ReadPlan {
    /// Up to this many records are read one by one, even if they have keys or places.
    static let mostSingles = 20

    enum Part: Hashable, Sendable {
        /// The records with these keys, in one find.
        case having([PageKey])
        /// The records at these places, in one call.
        case places(ClosedRange<Int>)
        case single(Int)
    }

    /// - Parameter pageSize: how many records one call returns.
    static func parts(_ records: [ChangedRecord], pageSize: Int) -> [Part] {
        guard records.count > mostSingles else { return records.map { .single($0.id) } }
        var keys: [PageKey] = []
        var places: [Int] = []
        var others: [Int] = []
        for record in records {
            if let key = record.key {
                keys.append(key)
            } else if let place = record.place {
                places.append(place)
            } else {
                others.append(record.id)
            }
        }
        return keys.parts(of: IDPaging.chunk).map(Part.having) + ranges(places.sorted(), pageSize).map(Part.places)
            + others.map(Part.single)
    }

    /// Covers all places with as few calls as possible, none of them for more than a page.
    private static func ranges(_ places: [Int], _ pageSize: Int) -> [ClosedRange<Int>] {
        var ranges: [ClosedRange<Int>] = []
        for place in places {
            if let last = ranges.last, place - last.lowerBound < pageSize {
                ranges[ranges.count - 1] = last.lowerBound...max(place, last.upperBound)
            } else {
                ranges.append(place...place)
            }
        }
        return ranges
    }
}

extension Array {
    /// The elements in their order, in parts of at most `size`.
    fileprivate func parts(of size: Int) -> [[Element]] {
        stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
