import Foundation

/// Figures by dotted key: `http.small.16.fmhttp` becomes nested objects in the JSON.
struct Report {
    private(set) var figures: [String: Double] = [:]

    subscript(key: String) -> Double? {
        get { figures[key] }
        set { figures[key] = newValue }
    }

    func json() throws -> Data {
        var root: [String: Any] = [:]
        for (key, value) in figures {
            Self.insert(value, at: key.split(separator: ".").map(String.init)[...], into: &root)
        }
        return try JSONSerialization.data(withJSONObject: root, options: [.prettyPrinted, .sortedKeys])
    }

    private static func insert(_ value: Double, at path: ArraySlice<String>, into object: inout [String: Any]) {
        guard let key = path.first else { return }
        guard path.count > 1 else {
            object[key] = value
            return
        }
        var child = object[key] as? [String: Any] ?? [:]
        insert(value, at: path.dropFirst(), into: &child)
        object[key] = child
    }
}
