import Schemas
import TestSupport
import Testing

@testable import Gateway

extension Credential {
    static func sample(
        _ role: Role, _ account: AccountName, kind: Kind = .signIn, rights: [AccountRight]? = nil, scope: [TopicPrefix]? = nil,
        expires: UnixMilliseconds? = nil, maxExpires: UnixMilliseconds? = nil, isOperator: Bool? = nil, sequence: Int64 = 0
    ) -> Credential {
        Credential(
            kind: kind, id: ObjectID(), account: account, role: role,
            rights: rights ?? AccountRight.allCases.filter(role.rights.contains),
            scope: scope, expires: expires, maxExpires: maxExpires, isOperator: isOperator, sequence: sequence)
    }
}

extension Principal {
    static func sample(
        _ role: Role, _ account: String = "ann", kind: Credential.Kind = .signIn, rights: [AccountRight]? = nil,
        scope: [TopicPrefix]? = nil, isOperator: Bool = false
    ) throws -> Principal {
        let credential = Credential.sample(
            role, try #require(AccountName(account)), kind: kind, rights: rights, scope: scope, isOperator: isOperator)
        return Principal(credential, hash: Secret(account).credentialHash)
    }
}
