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

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ])
    func theDigestIsTheStandards(message: String, digest: String) {
        let hex = SHA256.digest(of: Array(message.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        expectNoDifference(hex.joined(), digest)
    }
}
