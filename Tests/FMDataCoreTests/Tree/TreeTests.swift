import CustomDump
import FMData
import FMSandbox
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Servers, databases and layouts: which objects retain which, and which are the same.
@Suite(.timeLimit(.minutes(15))) struct TreeTests {
    /// Children retain their parents, but not the reverse; a name always gives the same object.
    @Test(.tags(.earlierClients))
    func childrenHoldParentsAndANameIsOneObject() {
        weak var server: DataAPI.Server?
        weak var database: DataAPI.Database?
        do {
            let layout = DataAPI.Server(host: "h").addDatabase("d").addLayout("l")
            server = layout.database.server
            database = layout.database
            #expect(server?.addDatabase("d") === database)
            #expect(DataAPI.Server(host: "h").addDatabase("d") !== database)
        }
        #expect(server == nil && database == nil)
    }

    @Test(.tags(.earlierClients))
    func hostsDatabasesAndAccountsAreValuesAsManyAsWanted() async throws {
        try await World.run { one in
            try await World.run(credentials: Credentials(user: "guest", password: "welcome")) { two in
                let admin = try await one.contacts.createRecord().firstValue()
                #expect(admin.recordId > 0)
                let guest = await two.contacts.createRecord().awaitSingleResult().failure
                #expect([.privileges, .account].contains(guest?.fileMakerCode?.category))
                expectNoDifference(one.sandbox.counters.logins, 1)
                expectNoDifference(two.sandbox.counters.logins, 1)
            }
        }
    }
}
