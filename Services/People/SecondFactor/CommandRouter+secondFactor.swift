import CommandBus
import Schemas
import Storage

extension CommandRouter {
    /// The commands about second factors.
    mutating func serveSecondFactors(_ people: People) {
        on(BeginSecondFactor.self) { command, context in
            let secret = TOTP.makeSecret()
            let account = try await people.changes.make(by: context) { change in
                try change.require(.account(command.account), of: context)
                return try change.update(command.account, as: BeginSecondFactor.name) { account in
                    guard account.secondFactor?.isConfirmed != true else {
                        throw CommandFailure(.conflict, "\(account.name) has a second factor already; remove it first")
                    }
                    account.secondFactor = SecondFactorRecord(secret: secret)
                }
            }
            return BeginSecondFactor.Reply(secret: secret, uri: TOTP.uri(of: secret, account: account.name))
        }
        on(ConfirmSecondFactor.self) { command, context in
            let codes = RecoveryCodes.make()
            _ = try await people.changes.make(by: context) { change in
                try change.require(.account(command.account), of: context)
                let now = change.now
                return try change.update(command.account, as: ConfirmSecondFactor.name) { account in
                    guard var secondFactor = account.secondFactor, !secondFactor.isConfirmed else {
                        throw CommandFailure(.conflict, "there is no new second factor of \(account.name) to confirm")
                    }
                    try secondFactor.confirm(command.code, recoveryCodes: codes.map(RecoveryCodes.hash), at: now)
                    account.secondFactor = secondFactor
                }
            }
            return ConfirmSecondFactor.Reply(recoveryCodes: codes)
        }
        on(RemoveSecondFactor.self) { command, context in
            try await people.changes.make(by: context) { change in
                try change.require(.account(command.account), of: context)
                return try change.update(command.account, as: RemoveSecondFactor.name) { $0.secondFactor = nil }.account
            }
        }
    }
}
