// What it shows: two servers with two databases each behind one model layer. While contacts are filed everywhere, one
// server restarts: its sessions and connections end, and no contact is lost. Then all are read back as one stream.
// How to run it: `swift run multiserver`; both servers are embedded.
// What to look at: Branch.swift, the only code that knows FileMaker; Company.swift, which uses branches like one.
// Neither logs in, keeps a token or replaces an expired one.
import FMData
import OpenCombine

@main
struct MultiServer {
    static func main() async throws {
        let north = try await Site.open("north", branches: ["Oslo", "Bergen"])
        let south = try await Site.open("south", branches: ["Rome", "Naples"])
        let company = Company(branches: north.branches + south.branches)

        let newcomers = (1...100).map { Contact(name: "Newcomer \($0)", email: "newcomer\($0)@example.com") }
        let filed = try await company.file(newcomers)
            .restarting(south, after: 200)
            .count()
            .firstValue()
        print("\(filed) contacts filed")

        let everybody = try await company.allContacts()
            .collect()
            .firstValue()
        for branch in company.branches {
            print("\(everybody.count { $0.branch == branch.name }) in \(branch.name)")
        }
        let different = Set(everybody.map { "\($0.branch): \($0.contact.email)" })
        print("\(everybody.count) in all, \(different.count == everybody.count ? "each once" : "some twice")")

        try await north.close()
        try await south.close()
    }
}

extension Publisher {
    /// Restarts a server, once, after this number of values.
    func restarting(_ site: Site, after count: Int) -> AnyPublisher<Output, Failure> {
        var passed = 0
        var hasRestarted = false
        return handleEvents(receiveOutput: { _ in
            passed += 1
            guard passed >= count, !hasRestarted else { return }
            hasRestarted = true
            site.restart()
        })
        .eraseToAnyPublisher()
    }
}
