import CustomDump
import FMData
import FMTestSupport
import OpenCombine
import Testing

@testable import FMDataCore

/// Which logins are the same account, and which database object an account gets.
@Suite struct AccountTests {
    private typealias Provider = DataAPI.CredentialsProvider

    private static func provider(_ identity: String? = nil) -> Provider {
        Provider(identity: identity) { Empty().eraseToAnyPublisher() }
    }

    private static func source(_ database: String, _ user: String, _ password: String) -> DataAPI.FMDataSourceAuth {
        .init(fmDataSource: [.init(database: database, credentials: .basic(user: user, password: password))])
    }

    // MARK: Accounts

    @Test func allThatOpensOtherRecordsIsAnotherAccount() {
        let ada = Credentials(user: "ada", password: "secret")
        let logins: [DataAPI.Login] = [
            .init(ada),
            .init(Credentials(user: "ada", password: "wrong")),
            .init(Credentials(user: "adas", password: "ecret")),
            .init(Credentials(user: "Ada", password: "secret")),
            // Swift compares these texts as equal, but a server does not.
            .init(Credentials(user: "\u{E9}", password: "")),
            .init(Credentials(user: "e\u{301}", password: "")),
            .init(Credentials(oAuthId: "ada", oAuthIdentifier: "secret")),
            .init(Credentials(clarisId: "ada")),
            .init(Credentials(token: "ada")),
            .init(Self.provider("ada")),
            .init(Self.provider("account 3:ada")),
            .init(Self.provider()),
            .init(Self.provider()),
            .init(ada, dataSources: Self.source("Data", "api", "x")),
            .init(ada, dataSources: Self.source("Data", "api", "y")),
            .init(ada, dataSources: Self.source("Data", "ap", "ix")),
        ]
        let accounts = logins.compactMap(Account.init)
        expectNoDifference(accounts.count, logins.count)
        expectNoDifference(Set(accounts).count, logins.count)
    }

    @Test func theSameAccountIsTheSame() {
        let ada = Credentials(user: "ada", password: "secret")
        let unnamed = Self.provider()
        let pairs: [(DataAPI.Login, DataAPI.Login)] = [
            (.init(ada), .init(Credentials(user: "ada", password: "secret"))),
            (.init(ada), .init(Provider.fixed(ada))),
            (.init(ada), .init(ada, dataSources: .init(fmDataSource: []))),
            (.init(Credentials(token: "T")), .init(Credentials(token: "T"))),
            (.init(Self.provider("ada")), .init(Self.provider("ada"))),
            (.init(unnamed), .init(unnamed)),
            (.init(ada, dataSources: Self.source("D", "u", "p")), .init(ada, dataSources: Self.source("D", "u", "p"))),
        ]
        for (one, other) in pairs { expectNoDifference(Account(one), Account(other)) }
        #expect(Account(DataAPI.Login(.invalid)) == nil)
    }

    @Test func noSecretIsShown() throws {
        let account = try #require(Account(DataAPI.Login(Credentials(user: "ada", password: "secret"))))
        expectNoDifference("\(account)", "Account(••••)")
        var dumped = ""
        dump(account, to: &dumped)
        expectNoDifference(dumped, "- Account(••••)\n")
    }

    // MARK: Objects

    private let server = DataAPI.Server(host: "fms.example.com")
    private let ada = Credentials(user: "ada", password: "A")
    private let eve = Credentials(user: "eve", password: "E")

    @Test func aNameAndAnAccountAreOneObject() {
        let orders = server.addDatabase("Orders", credentials: ada)
        #expect(server.addDatabase("Orders", credentials: ada) === orders)
        #expect(orders.signedIn(as: ada) === orders)
        #expect(server.addDatabase("Stock", credentials: ada) !== orders)
        let hers = server.addDatabase("Orders", credentials: eve)
        #expect(hers !== orders)
        #expect(orders.signedIn(as: eve) === hers)
        #expect(hers.signedIn(as: ada) === orders)
        #expect(orders.signedIn(as: Credentials(user: "ada", password: "wrong")) !== orders)
        expectNoDifference(orders.credentials, ada)
        expectNoDifference(hers.credentials, eve)
        expectNoDifference(server.databases.map(\.credentials.user), ["ada", "eve"])
        let provider = Self.provider()
        let provided = server.addDatabase("Orders", credentialsProvider: provider)
        #expect(orders.signedIn(by: provider) === provided)
        #expect(orders.signedIn(by: Self.provider()) !== provided)
    }

    /// The README of the package that this one replaces knows only this way: a login on the database object.
    @Test func withoutCredentialsItIsNobodysWhoeverLogsIn() {
        let orders = server.addDatabase("Orders")
        let hers = server.addDatabase("Orders", credentials: ada)
        #expect(orders !== hers)
        orders.replaceCredentials(ada)
        #expect(server.addDatabase("Orders") === orders)
        #expect(server.addDatabase("Orders", credentials: ada) === hers)
        orders.replaceCredentials(eve)
        #expect(server.addDatabase("Orders") === orders)
        #expect(server.addDatabase("Orders", credentials: eve) !== orders)
    }

    @Test func whoseCredentialsAreReplacedIsFoundByTheNewOnes() {
        let orders = server.addDatabase("Orders", credentials: ada)
        orders.replaceCredentials(eve)
        expectNoDifference(orders.credentials, eve)
        #expect(server.addDatabase("Orders", credentials: eve) === orders)
        let anew = server.addDatabase("Orders", credentials: ada)
        #expect(anew !== orders)
        // The account already has an object, which it keeps.
        orders.replaceCredentials(ada)
        #expect(server.addDatabase("Orders", credentials: ada) === anew)
        let hers = server.addDatabase("Orders", credentials: eve)
        #expect(hers !== orders)
        expectNoDifference(orders.credentials, ada)
        // It is in use all the same, so it is listed, and a shutdown logs it out.
        expectNoDifference(
            server.databases.map(ObjectIdentifier.init),
            [orders, anew, hers].map(ObjectIdentifier.init)
        )
        orders.replaceCredentials(Credentials(user: "mary", password: "x"))
        #expect(server.addDatabase("Orders", credentials: Credentials(user: "mary", password: "x")) === orders)
        expectNoDifference(server.registeredCount, 3)
    }

    @Test func aSiblingHasTheOptionsOfWhereItComesFrom() {
        let orders = server.addDatabase("Orders", credentials: ada)
        let hers = orders.signedIn(as: eve)
        expectNoDifference(orders.tagged("nightly").signedIn(as: eve).calls.options.tag, "nightly")
        #expect(orders.tagged("nightly").signedIn(as: eve).original === hers)
        expectNoDifference(hers.calls.options.tag, nil)
        #expect(hers.addLayout("L") == orders.tagged("nightly").signedIn(as: eve).addLayout("L"))
        #expect(hers.addLayout("L") != orders.addLayout("L"))
    }

    @Test(.thorough) func whoIsHeldByNobodyIsKnownToNobody() {
        let orders = server.addDatabase("Orders", credentials: ada)
        for number in 0..<10_000 {
            _ = orders.signedIn(as: Credentials(user: "user \(number)", password: "x"))
            _ = orders.signedIn(by: Self.provider())
        }
        expectNoDifference(server.registeredCount, 1)
        expectNoDifference(server.databases.count, 1)
        do {
            let hers = orders.signedIn(as: eve)
            hers.replaceCredentials(Credentials(user: "mallory", password: "M"))
            expectNoDifference(server.registeredCount, 2)
        }
        expectNoDifference(server.registeredCount, 1)
    }

    @Test func oneAccountOnManyThreadsIsOneObject() {
        for _ in 0..<20 {
            let (server, ada) = (DataAPI.Server(host: "h"), ada)
            let objects = Locked<[DataAPI.Database]>([])
            let ask: @Sendable () -> Void = {
                let database = server.addDatabase("Orders", credentials: ada)
                objects.change { $0.append(database) }
            }
            race(rounds: 1, ask, ask, ask, ask)
            expectNoDifference(Set(objects.value.map(ObjectIdentifier.init)).count, 1)
            expectNoDifference(server.registeredCount, 1)
        }
    }

    @Test func comingAndGoingOnManyThreadsLeavesNothing() {
        let (server, ada) = (server, ada)
        let comeAndGo: @Sendable () -> Void = { _ = server.addDatabase("Orders", credentials: ada).name }
        race(rounds: 500, comeAndGo, comeAndGo, comeAndGo)
        expectNoDifference(server.registeredCount, 0)
    }
}
