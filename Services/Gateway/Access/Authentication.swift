import Schemas

/// The result of the check of a request's credential.
enum Authentication: Sendable {
    /// The request has no credential, or a cookie of a sign-in that has ended.
    case anonymous
    case account(Principal)
    /// The bearer token is not valid. Such a request is refused by every route.
    case invalidToken(Problem)
    /// The credential does not count for this request, for the given reason. Routes for anyone answer as to an anonymous request.
    case unusable(any Error)
    /// The gateway has no usable copy. ``Route`` decides how long to wait for the people service.
    case unchecked(@Sendable (_ timeout: Duration) async -> Authentication)

    var principal: Principal? {
        guard case .account(let principal) = self else { return nil }
        return principal
    }

    /// The authentication after the check that is still missing.
    ///
    /// - Parameter timeout: How long to wait for the people service.
    func checked(within timeout: Duration) async -> Authentication {
        guard case .unchecked(let check) = self else { return self }
        return await check(timeout)
    }
}
