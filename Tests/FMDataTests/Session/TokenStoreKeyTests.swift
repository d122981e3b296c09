import CustomDump
import OpenCombine
import Testing

@testable import FMData

/// Whose session an entry of a store is.
@Suite struct TokenStoreKeyTests {
    private func makeKey(
        host: String = "https://fms.example.com",
        database: String = "Contacts",
        _ provider: DataAPI.CredentialsProvider,
        _ sources: DataAPI.FMDataSourceAuth? = nil
    ) -> DataAPI.TokenStore.Key? {
        DataAPI.TokenStore.Key(host: host, database: database, credentials: provider, dataSources: sources)
    }

    private func source(_ database: String, _ user: String, _ password: String = "x") -> DataAPI.FMDataSourceAuth {
        .init(fmDataSource: [.init(database: database, credentials: .basic(user: user, password: password))])
    }

    private let ada = DataAPI.CredentialsProvider.fixed(.init(user: "ada", password: "secret"))

    @Test func everyIdentityHasItsOwnKey() throws {
        let keys = [
            makeKey(ada),
            makeKey(.fixed(.init(user: "eve", password: "secret"))),
            makeKey(host: "https://fms.example.org", ada),
            makeKey(database: "Invoices", ada),
            makeKey(ada, source("Data", "api")),
            makeKey(ada, source("Data", "apx")),
            makeKey(ada, source("Dataa", "pi")),
            makeKey(.fixed(.init(user: "", password: "secret"))),
            makeKey(.init(identity: "account 3:ada x") { Empty().eraseToAnyPublisher() }),
        ]
        expectNoDifference(Set(keys.compactMap(\.?.description)).count, keys.count)
    }

    @Test func noPasswordIsPartOfAKey() throws {
        let other = DataAPI.CredentialsProvider.fixed(.init(user: "ada", password: "another"))
        expectNoDifference(makeKey(ada), makeKey(other))
        expectNoDifference(makeKey(ada, source("D", "u", "one")), makeKey(ada, source("D", "u", "two")))
        let key = try #require(makeKey(ada))
        #expect(!key.description.contains("ada"))
        expectNoDifference(key.identity.count, 64)
    }

    @Test func whoHasNoNameIsNotStored() {
        expectNoDifference(makeKey(.fixed(.init(clarisId: "token"))), nil)
        expectNoDifference(makeKey(.fixed(.init(oAuthId: "a", oAuthIdentifier: "b"))), nil)
        #expect(makeKey(.init(identity: "ada@example.com") { Empty().eraseToAnyPublisher() }) != nil)
    }
}
