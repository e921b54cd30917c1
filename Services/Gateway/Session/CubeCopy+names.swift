import Schemas

extension CubeCopy {
    /// Whether any access list names an account.
    func lists(_ account: AccountName) -> Bool {
        channels.contains { channel in
            channel.access.name(account)
                || channel.areas.contains { area in
                    area.access.name(account) || area.subjects.contains { $0.access.name(account) }
                }
        }
    }
}

extension [String] {
    fileprivate func name(_ account: AccountName) -> Bool { contains { AccountName($0) == account } }
}
