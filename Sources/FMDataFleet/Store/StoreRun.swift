/// One life of the store's process. Another run means that everything may be forgotten.
struct StoreRun: Equatable, Sendable {
    /// `run_id`; `-` where the store hides it.
    var id = "-"
    /// How long the process had been running when the connection was made.
    var uptime = 0

    init(id: String = "-", uptime: Int = 0) {
        self.id = id
        self.uptime = uptime
    }

    /// Reads the answer of `INFO server`.
    init(info: String) {
        for line in info.split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...]
            switch line[..<colon] {
            case "run_id" where (1...64).contains(value.utf8.count): id = String(value)
            case "uptime_in_seconds": uptime = max(0, Int(value) ?? 0)
            default: break
            }
        }
    }
}
