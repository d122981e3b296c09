import CustomDump
import FMData
import OpenCombine
import Testing

@testable import FMDataCore

/// Which identities share an entry of a token store, and which do not.
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

    /// Otherwise knowing an account's name would be enough to get the session of someone who knows the password.
    @Test func anotherPasswordIsAnotherKey() throws {
        let other = DataAPI.CredentialsProvider.fixed(.init(user: "ada", password: "another"))
        #expect(makeKey(ada) != makeKey(other))
        #expect(makeKey(ada, source("D", "u", "one")) != makeKey(ada, source("D", "u", "two")))
        expectNoDifference(makeKey(ada, source("D", "u", "one")), makeKey(ada, source("D", "u", "one")))
        let key = try #require(makeKey(ada))
        #expect(!key.description.contains("ada") && !key.description.contains("secret"))
        expectNoDifference(key.identity.count, 64)
    }

    /// Source: RFC 7914, section 11 (one round; the first 32 bytes); RFC 4231, section 4.7 (a long key); several rounds
    /// from Python's hashlib.
    @Test func aGuessCostsItsRounds() {
        func hexadecimal(_ bytes: [UInt8]) -> String {
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        func stretched(_ password: String, _ salt: String, _ rounds: Int) -> String {
            hexadecimal(KeyedHash(key: Array(password.utf8)).stretched(salt: Array(salt.utf8), rounds: rounds))
        }
        expectNoDifference(
            stretched("passwd", "salt", 1),
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"
        )
        expectNoDifference(
            stretched("password", "salt", 1000),
            "632c2812e46d4604102ba7618e9d6d7d2f8128f6266b4a03264d2a0460b7dcb3"
        )
        let long = KeyedHash(key: [UInt8](repeating: 0xAA, count: 131))
        expectNoDifference(
            hexadecimal(long.hash(Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        )
    }

    @Test func whoHasNoNameIsNotStored() {
        expectNoDifference(makeKey(.fixed(.init(clarisId: "token"))), nil)
        expectNoDifference(makeKey(.fixed(.init(oAuthId: "a", oAuthIdentifier: "b"))), nil)
        #expect(makeKey(.init(identity: "ada@example.com") { Empty().eraseToAnyPublisher() }) != nil)
    }
}
