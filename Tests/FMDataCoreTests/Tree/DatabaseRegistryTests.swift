import CustomDump
import FMData
import Testing

@testable import FMDataCore

/// Which database object is found by a name and an account, as databases come, change their account and go.
@Suite struct DatabaseRegistryTests {
    private typealias Key = DatabaseRegistry.Key

    private let server = DataAPI.Server(host: "fms.example.com")
    private let ada: Account
    private let eve: Account

    init() throws {
        ada = try #require(Account(DataAPI.Login(Credentials(user: "ada", password: "A"))))
        eve = try #require(Account(DataAPI.Login(Credentials(user: "eve", password: "E"))))
    }

    /// A new object, which the server does not know.
    private func database(_ name: String = "Orders") -> DataAPI.Database {
        DataAPI.Database(name: name, server: server, login: DataAPI.Login(.invalid), calls: server.calls)
    }

    private func key(_ account: Account?, _ name: String = "Orders") -> Key { Key(name: name, account: account) }

    private func expect(
        _ registry: DatabaseRegistry,
        finds database: DataAPI.Database?,
        as account: Account?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(registry[key(account)] === database, sourceLocation: sourceLocation)
    }

    // MARK: Coming

    @Test func aDatabaseIsFoundByItsNameAndItsAccount() {
        let (orders, hers, stock) = (database(), database(), database("Stock"))
        var registry = DatabaseRegistry()
        registry.add(orders, as: key(ada))
        registry.add(hers, as: key(nil))
        registry.add(stock, as: key(eve, "Stock"))
        expect(registry, finds: orders, as: ada)
        expect(registry, finds: hers, as: nil)
        expect(registry, finds: nil, as: eve)
        #expect(registry[key(eve, "Stock")] === stock)
        expectNoDifference(registry.count, 3)
    }

    @Test func databasesAreListedByNameAndThenInTheOrderOfTheirComing() {
        let (stock, hers, his, areas) = (database("Stock"), database(), database(), database("Areas"))
        var registry = DatabaseRegistry()
        registry.add(stock, as: key(ada, "Stock"))
        registry.add(hers, as: key(eve))
        registry.add(his, as: key(ada))
        registry.add(areas, as: key(ada, "Areas"))
        let listed = [areas, hers, his, stock].map(ObjectIdentifier.init)
        expectNoDifference(registry.databases.map(ObjectIdentifier.init), listed)
        // Neither a new account nor being found by nobody changes a database's place.
        registry.move(ObjectIdentifier(hers), to: nil)
        registry.move(ObjectIdentifier(his), to: eve)
        expectNoDifference(registry.databases.map(ObjectIdentifier.init), listed)
        withExtendedLifetime((stock, hers, his, areas)) {}
    }

    // MARK: Moving

    @Test func whoMovesIsFoundByTheNewAccountOnly() {
        let orders = database()
        var registry = DatabaseRegistry()
        registry.add(orders, as: key(ada))
        registry.move(ObjectIdentifier(orders), to: eve)
        expect(registry, finds: orders, as: eve)
        expect(registry, finds: nil, as: ada)
        // To the account that it has.
        registry.move(ObjectIdentifier(orders), to: eve)
        expect(registry, finds: orders, as: eve)
        registry.move(ObjectIdentifier(orders), to: ada)
        expect(registry, finds: orders, as: ada)
        expectNoDifference(registry.count, 1)
    }

    /// Whose new account has a database already is found by nobody: a request always gets the same object.
    @Test func whoMovesToAnAccountWithADatabaseIsFoundByNobody() {
        let (orders, hers) = (database(), database())
        var registry = DatabaseRegistry()
        registry.add(orders, as: key(ada))
        registry.add(hers, as: key(eve))
        registry.move(ObjectIdentifier(orders), to: eve)
        expect(registry, finds: hers, as: eve)
        expect(registry, finds: nil, as: ada)
        expectNoDifference(registry.databases.map(ObjectIdentifier.init), [orders, hers].map(ObjectIdentifier.init))
        // Also when that database has left the account.
        registry.move(ObjectIdentifier(hers), to: ada)
        expect(registry, finds: hers, as: ada)
        expect(registry, finds: nil, as: eve)
        // It is found again when it moves.
        registry.move(ObjectIdentifier(orders), to: eve)
        expect(registry, finds: orders, as: eve)
        expectNoDifference(registry.count, 2)
    }

    @Test func whoseAccountIsUnknownIsFoundByNobody() {
        let orders = database()
        var registry = DatabaseRegistry()
        registry.add(orders, as: key(ada))
        registry.move(ObjectIdentifier(orders), to: nil)
        for account in [ada, eve, nil] { expect(registry, finds: nil, as: account) }
        expectNoDifference(registry.databases.map(ObjectIdentifier.init), [ObjectIdentifier(orders)])
        // Still unknown.
        registry.move(ObjectIdentifier(orders), to: nil)
        expectNoDifference(registry.count, 1)
        registry.move(ObjectIdentifier(orders), to: ada)
        expect(registry, finds: orders, as: ada)
        expectNoDifference(registry.count, 1)
    }

    @Test func whoCameWithoutCredentialsStaysWhereTheyAre() {
        let orders = database()
        var registry = DatabaseRegistry()
        registry.add(orders, as: key(nil))
        for account in [ada, nil, eve] {
            registry.move(ObjectIdentifier(orders), to: account)
            expect(registry, finds: orders, as: nil)
        }
        expect(registry, finds: nil, as: ada)
        expect(registry, finds: nil, as: eve)
    }

    @Test func aStrangerNeitherMovesNorGoes() {
        let (orders, stranger) = (database(), database())
        var registry = DatabaseRegistry()
        registry.add(orders, as: key(ada))
        registry.move(ObjectIdentifier(stranger), to: eve)
        registry.remove(ObjectIdentifier(stranger))
        expect(registry, finds: orders, as: ada)
        expect(registry, finds: nil, as: eve)
        expectNoDifference(registry.count, 1)
    }

    // MARK: Going

    @Test func itKeepsNobodyAlive() {
        var registry = DatabaseRegistry()
        let gone: ObjectIdentifier
        do {
            let orders = database()
            registry.add(orders, as: key(ada))
            gone = ObjectIdentifier(orders)
        }
        expect(registry, finds: nil, as: ada)
        expectNoDifference(registry.databases.count, 0)
        expectNoDifference(registry.count, 1, "it is removed when it says so")
        registry.remove(gone)
        expectNoDifference(registry.count, 0)
    }

    /// - Parameter accounts: the accounts that it moves to before it goes.
    @Test(arguments: [[], ["eve"], ["mary"], ["unknown"], ["eve", "mary"], ["unknown", "eve", "ada"]])
    func whoGoesLeavesNothingWhereverTheyAre(accounts: [String]) throws {
        let (orders, hers) = (database(), database())
        var registry = DatabaseRegistry()
        registry.add(orders, as: key(ada))
        registry.add(hers, as: key(eve))
        for user in accounts {
            let login = user == "unknown" ? Credentials.invalid : Credentials(user: user, password: "")
            let account = ["ada": ada, "eve": eve][user] ?? Account(DataAPI.Login(login))
            registry.move(ObjectIdentifier(orders), to: account)
        }
        registry.remove(ObjectIdentifier(orders))
        expectNoDifference(registry.databases.map(ObjectIdentifier.init), [ObjectIdentifier(hers)])
        expectNoDifference(registry.count, 1)
        // Nor does it come back.
        registry.move(ObjectIdentifier(orders), to: ada)
        expect(registry, finds: nil, as: ada)
        expect(registry, finds: hers, as: eve)
    }

    /// An object that is being released may be asked for anew before it has removed itself.
    @Test func whoGoesLateDoesNotTakeTheSuccessorAlong() {
        let (old, new) = (database(), database())
        var registry = DatabaseRegistry()
        registry.add(old, as: key(ada))
        registry.add(new, as: key(ada))
        registry.remove(ObjectIdentifier(old))
        expect(registry, finds: new, as: ada)
        registry.move(ObjectIdentifier(old), to: eve)
        expect(registry, finds: new, as: ada)
        expect(registry, finds: nil, as: eve)
        registry.remove(ObjectIdentifier(new))
        expectNoDifference(registry.count, 0)
    }
}
