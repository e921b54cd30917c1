import Base
package import Schemas

extension PersonExport {
    /// The file that explains the others.
    ///
    /// - Parameter language: `ar` for Arabic; English otherwise.
    package static func readme(of account: AccountName, in language: String) -> File {
        File(name: "README.txt", content: Array((language == "ar" ? arabic(account) : english(account)).utf8))
    }

    private static func english(_ account: AccountName) -> String {
        """
        What the hub has of the account \(account)
        ================================================

        Each folder is a service of the hub. Each file is a list of documents in JSON (UTF-8).
        Times are milliseconds since 1970-01-01 UTC.

        people/person.json        the account, and the ways to sign in
        people/identities.json    the identities at providers
        people/devices.json       the devices that are signed in
        people/profile.json       the profile, and who sees each field
        people/friends.json       friends, requests, and blocked persons
        people/preferences.json   the kinds of pushes that are switched off
        message-log/pushes.json   pushes to the person that still wait
        study/classes.json        the classes, and the role in each
        study/sessions.json       the study sessions at which the person was, or that the person hosted
        study/posts.json          posts to study sessions, removed ones as well
        study/invites.json        open invitations to study sessions, by the person and to the person
                                  (those to the person do not say by whom)

        Passwords, keys and tokens are not in it: they are secrets, and most of them are kept as hashes only.

        """
    }

    private static func arabic(_ account: AccountName) -> String {
        """
        ما لدى النظام عن الحساب \(account)
        ================================================

        كل مجلد خدمة من خدمات النظام، وكل ملف قائمة مستندات بصيغة JSON (بترميز UTF-8).
        الأوقات بالمللي ثانية منذ 1970-01-01 بالتوقيت العالمي.

        people/person.json        الحساب وطرق تسجيل الدخول
        people/identities.json    الهويات لدى مزوّدي الهوية
        people/devices.json       الأجهزة المسجَّل الدخول عليها
        people/profile.json       الملف الشخصي ومن يرى كل حقل
        people/friends.json       الأصدقاء والطلبات والأشخاص المحظورون
        people/preferences.json   أنواع الإشعارات الموقفة
        message-log/pushes.json   إشعارات ما زالت بانتظار الإرسال
        study/classes.json        المواد والدور في كل منها
        study/sessions.json       الجلسات الدراسية التي حضرها الشخص أو استضافها
        study/posts.json          المنشورات في الجلسات الدراسية، بما فيها المحذوفة
        study/invites.json        الدعوات المفتوحة إلى الجلسات الدراسية، منه وإليه
                                  (لا تذكر الدعوات إليه من أرسلها)

        لا يتضمن كلمات المرور ولا المفاتيح ولا الرموز: فهي أسرار، ومعظمها محفوظ كبصمات فقط.

        """
    }
}
