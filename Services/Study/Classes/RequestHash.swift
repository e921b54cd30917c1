import Base
import Crypto
import FoundationEssentials
import Schemas

/// What a request with an `Idempotency-Key` is recognised by if it is repeated. No account's name is in it, so an erasure need
/// not find it.
enum RequestHash {
    /// - Parameters:
    ///   - key: The caller's.
    ///   - kind: What the request makes, such as `class`: the same key of requests for other things is another one.
    /// - Returns: `nil` for a request without a key.
    static func text(_ key: String?, of account: AccountName, for kind: String) -> String? {
        key.map { hexadecimal("\(account.key)\n\(kind)\n\($0)") }
    }

    fileprivate static func hexadecimal(_ text: String) -> String { SHA256.hash(data: Data(text.utf8)).hexadecimal }
}

extension ErasedPersonDocument {
    static func identifier(of account: AccountName) -> String { RequestHash.hexadecimal(account.key) }
}

extension CommandFailure {
    /// The failure of a request whose key was used for another one.
    ///
    /// - Parameter kind: What both make.
    static func reusedKey(for kind: String) -> CommandFailure {
        CommandFailure(.conflict, "request_key: it was used for another \(kind)", field: "request_key")
    }
}
