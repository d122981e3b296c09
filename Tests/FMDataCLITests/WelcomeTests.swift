import CustomDump
import FMSandbox
import Testing

@testable import FMDataCLI

@Suite struct WelcomeTests {
    private func text(_ solutions: [Solution], authorityFile: String? = nil) -> String {
        Welcome(url: "http://127.0.0.1:3000", solutions: solutions, authorityFile: authorityFile).text
    }

    @Test func databasesAccountsAndALineToTry() {
        let shop = Solution(
            name: "Sam's Shop",
            accounts: [
                .init(name: "old", password: "secret", isActive: false), .init(name: "sam's", password: "secret"),
                .init(name: "eve@example.com", password: "", kind: .clarisID),
            ]
        )
        expectNoDifference(
            text([shop, Solution(name: "Plain")], authorityFile: "/tmp/ca.pem"),
            #"""
            Serving until Ctrl-C:
              Sam's Shop (accounts sam's, eve@example.com by Claris ID)
              Plain (account admin, empty password)
            Try it; curl asks for the password:
              curl --cacert '/tmp/ca.pem' -u 'sam'\''s' -H 'Content-Type: application/json' -d '{}' 'http://127.0.0.1:3000/fmi/data/vLatest/databases/Sam%27s%20Shop/sessions'

            """#
        )
    }

    @Test func nobodyWhoHasAPassword() {
        let cloud = Solution(name: "Cloud", accounts: [.init(name: "ada", password: "", kind: .oauth)])
        #expect(text([cloud]).contains("Cloud (account ada by OAuth)"))
        let closed = Solution(name: "Closed", accounts: [.init(name: "ada", password: "", isActive: false)])
        #expect(text([closed]).contains("Closed (no account that is active)"))
    }
}
