import FMData
import FMSandbox

// What is said of the database and the account. No text names the account.

extension DoctorFinding {
    // MARK: Databases

    /// - Parameters:
    ///   - wanted: The database that was named.
    ///   - asAccount: Whether an account was given.
    static func databases(
        _ result: Result<[String], FMRest.APIError>,
        wanted: String?,
        asAccount: Bool
    ) -> DoctorFinding {
        let names: [String]
        switch result {
        case .success(let list): names = list
        // The login says more of an account that is refused.
        case .failure(let error) where error.fileMakerCode?.category == .account:
            return .warning("the host shows no list to this account: \(error.finding)", "See login.")
        case .failure(let error): return .failed(error)
        }
        let count = ["databases": names.count]
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        guard let wanted else {
            switch names.count {
            case 0: return noneListed(asAccount).with(count)
            case 1: return .ok("the host shows one, \(list), which is used").with(count)
            default:
                return .warning("the host shows \(list)", "Name the one to look at: --database \"\(names[0])\".").with(
                    count
                )
            }
        }
        if names.contains(wanted) {
            let place = names.count == 1 ? "the one" : "one of \(names.count)"
            return .ok("\"\(wanted)\" is \(place) that the host shows").with(count)
        }
        if names.isEmpty { return .ok("the host shows none, and may hide them").with(count) }
        let meant = names.nearest(to: wanted)
        return .warning(
            "the host shows \(list), and not \"\(wanted)\"",
            meant.map { "Did you mean --database \"\($0)\"?" }
                ?? "Is the file open on the host? It shows an account only the files that the account may open."
        )
        .with(count)
    }

    private static func noneListed(_ asAccount: Bool) -> DoctorFinding {
        .warning(
            "the host shows none",
            asAccount
                ? "Name one: --database NAME. Hosts show an account only the files that it may open by the Data API."
                : "Name one: --database NAME. Hosts show their list only to accounts: give --user and FM_PASSWORD."
        )
    }

    // MARK: Login

    /// - Parameter listed: The databases that the host has shown to the account; `nil` if it has not.
    static func login(_ error: FMRest.APIError, to database: String, listed: [String]?) -> DoctorFinding {
        let others = (listed ?? []).filter { $0 != database }
        let isListed = listed?.contains(database) ?? false
        let advice: [String]
        switch error.fileMakerCode {
        case .invalidAccount?:
            let inOtherFiles =
                "The host shows this account \(others.count == 1 ? "another file" : "\(others.count) other files"), so "
                + "account and password are right there. In this file they may be missing or different."
            advice =
                others.isEmpty || isListed
                ? [password, "The account may be inactive in the file: \(security).", extendedPrivilege]
                : [extendedPrivilege, inOtherFiles]
        case .insufficientPrivileges?: advice = [extendedPrivilege]
        case .fileNotOpened?:
            let meant = others.nearest(to: database).map { ["Did you mean --database \"\($0)\"?"] } ?? []
            let closed = "Is the file open on the host, and spelled so? Admin Console, Databases."
            advice = isListed ? [extendedPrivilege, closed] : meant + [closed, extendedPrivilege]
        case .tooManyLoginAttempts?:
            advice = [
                "Wait some minutes, and do not try again before: each attempt prolongs it.",
                "Look for programs that still use an old password; they lock the account again.",
            ]
        case let code? where code.meansHostFull:
            advice = [
                "Close idle sessions in the Admin Console, or wait: a session that nobody uses ends after 15 minutes.",
                "Look for programs that log in for every call and do not log out.",
            ]
        case 959?: advice = ["Switch the FileMaker Data API on: Admin Console, Connectors, FileMaker Data API."]
        default: return .failed(error)
        }
        let isOfAccount = [.invalidAccount, .insufficientPrivileges, .tooManyLoginAttempts].contains(
            error.fileMakerCode
        )
        return .failed(error.finding, advice, exit: isOfAccount ? .refused : .failed)
    }

    private static let security = "FileMaker Pro, File, Manage, Security"

    private static let password =
        "Check the account and its password, both with their case. The shell may have changed what FM_PASSWORD holds: "
        + "write it in single quotes."

    private static let extendedPrivilege =
        "The account's privilege set may lack the extended privilege fmrest: \(security), Extended Privileges, "
        + "\"Access via FileMaker Data API\". Hosts say this by 212, 802 or 9."

    // MARK: Logout

    static func logoutFailed(_ error: FMRest.APIError) -> DoctorFinding {
        .warning("the session may stay open: \(error.finding)", "The host ends it after 15 minutes.")
    }
}
