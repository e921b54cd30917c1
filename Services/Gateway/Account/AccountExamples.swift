package import JSON
import JSONSchema
package import Schemas

// The bodies about accounts, sessions and tokens in the API's document.

extension AddAccount: HasExample {
    package static var example: AddAccount {
        AddAccount(account: .exampleAccount, password: .examplePassword, role: .communicator)
    }
}

extension AddAccount: SchemaAnnotated {
    /// An account signs in with a password, at the OpenID Connect provider, or both.
    package static var schemaAnnotations: JSONValue { ["anyOf": [["required": ["password"]], ["required": ["oidc"]]]] }
}

extension AccountChange: HasExample {
    static var example: AccountChange {
        AccountChange(role: .communicator, disabled: false, secondFactorRequired: true, oidc: nil)
    }
}

extension PasswordChange: HasExample {
    static var example: PasswordChange {
        PasswordChange(password: Secret("violet-anchor-meadow"), currentPassword: .examplePassword)
    }
}

extension SecondFactorCode: HasExample {
    static var example: SecondFactorCode { SecondFactorCode(code: Secret("492817")) }
}

extension SignInDraft: HasExample {
    static var example: SignInDraft { SignInDraft(account: "ann", password: .examplePassword, code: nil) }
}

extension ConfirmationDraft: HasExample {
    static var example: ConfirmationDraft { ConfirmationDraft(password: .examplePassword, code: nil) }
}

extension ConfirmationDraft: SchemaAnnotated {
    static var schemaAnnotations: JSONValue { ["anyOf": [["required": ["password"]], ["required": ["code"]]]] }
}

extension AddToken: HasExample {
    package static var example: AddToken { AddToken(name: "Canteen's menu", rights: [.read, .send]) }
}

extension Secret {
    static var examplePassword: Secret { Secret("copper-lantern-orchard") }
}

extension AccountName {
    static var exampleAccount: AccountName {
        guard let name = AccountName("ann") else { preconditionFailure("ann is an account's name") }
        return name
    }
}
