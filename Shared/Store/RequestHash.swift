import Base
import Crypto
import FoundationEssentials
package import Schemas

/// What a request with an `Idempotency-Key` is recognised by if it is repeated. No account's name is in it, so an erasure need
/// not find it.
package enum RequestHash {
    /// - Parameters:
    ///   - key: The caller's.
    ///   - kind: What the request makes, such as `class`: the same key of requests for other things is another one.
    /// - Returns: `nil` for a request without a key.
    package static func text(_ key: String?, of account: AccountName, for kind: String) -> String? {
        key.map { hexadecimal("\(account.key)\n\(kind)\n\($0)") }
    }

    fileprivate static func hexadecimal(_ text: String) -> String { SHA256.hash(data: Data(text.utf8)).hexadecimal }
}

extension CommandFailure {
    /// The failure of a request whose key was used for another one.
    ///
    /// - Parameter kind: What both make.
    package static func reusedKey(for kind: String) -> CommandFailure {
        CommandFailure(.conflict, "request_key: it was used for another \(kind)", field: "request_key")
    }
}

/// That a person was erased, as long as a gateway may still take a token of theirs. Without it a request that was on its way, or
/// one by a gateway without a connection to the people service, could bring them back into a store.
package struct ErasedPersonDocument: StoredDocument, Hashable {
    /// The SHA-256 of the account in lower case, in hexadecimal digits.
    package let id: String
    package let expires: UnixMilliseconds

    private enum CodingKeys: String, CodingKey {
        case id = "_id"
        case expires
    }

    package init(id: String, expires: UnixMilliseconds) {
        self.id = id
        self.expires = expires
    }

    package static func identifier(of account: AccountName) -> String { RequestHash.hexadecimal(account.key) }
}
