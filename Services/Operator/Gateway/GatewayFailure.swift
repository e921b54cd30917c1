import ArgumentParser
import Glibc

/// Why a request to the gateway has failed.
struct GatewayFailure: Error, CustomStringConvertible {
    enum Kind: Sendable {
        /// The gateway does not accept the request.
        case refused
        /// There is no such object.
        case notFound
        /// The token is missing, wrong, or does not allow it.
        case notAllowed
        /// The gateway does not answer.
        case unreachable
    }

    let kind: Kind
    /// One sentence.
    let description: String
    /// Whether the gateway may have done what was asked, although it has not said so.
    var mayBeDone = false

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }

    /// The exit status, as in sysexits.h.
    var exitCode: ExitCode {
        switch kind {
        case .refused, .notFound: ExitCode(EX_DATAERR)
        case .notAllowed: ExitCode(EX_NOPERM)
        case .unreachable: ExitCode(EX_TEMPFAIL)
        }
    }
}
