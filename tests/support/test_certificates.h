#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <memory>
#include <string>

#include "gtest/gtest.h"

namespace vectable {

// A certificate authority made up for a test, which signs certificates for "localhost" and
// 127.0.0.1. Files lie in a folder: NAME.pem and NAME.key.
class TestCertificates {
 public:
  explicit TestCertificates(std::string folder, const std::string& name = "ca")
      : folder_(std::move(folder)), ca_key_(EVP_RSA_gen(2048)) {
    ca_ = Make(name, ca_key_.get(), nullptr, /*days=*/2);
    WriteFiles(name, ca_.get(), ca_key_.get());
  }

  // Signs a new certificate; one of negative days has expired.
  void Sign(const std::string& name, int days = 2) {
    const Key key(EVP_RSA_gen(2048));
    const Certificate certificate = Make(name, key.get(), ca_.get(), days);
    WriteFiles(name, certificate.get(), key.get());
  }

  std::string certificate(const std::string& name) const { return folder_ + "/" + name + ".pem"; }
  std::string key(const std::string& name) const { return folder_ + "/" + name + ".key"; }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;
  using File = std::unique_ptr<std::FILE, Free>;

  static void Extend(X509* certificate, X509* issuer, int what, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value);
    ASSERT_NE(extension, nullptr) << value;
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }

  // Of `issuer` null: a certificate that signs itself.
  Certificate Make(const std::string& name, EVP_PKEY* key, X509* issuer, int days) {
    Certificate made(X509_new());
    X509* const certificate = made.get();
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial_);
    constexpr long kDay = 24L * 60 * 60;
    X509_gmtime_adj(X509_getm_notBefore(certificate), -10 * kDay);
    X509_gmtime_adj(X509_getm_notAfter(certificate), days * kDay);
    X509_set_pubkey(certificate, key);
    X509_NAME* subject = X509_get_subject_name(certificate);
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate, issuer == nullptr ? subject : X509_get_subject_name(issuer));
    if (issuer == nullptr) {
      Extend(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
    } else {
      Extend(certificate, issuer, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
    }
    X509_sign(certificate, ca_key_.get(), EVP_sha256());
    return made;
  }

  void WriteFiles(const std::string& name, X509* made, EVP_PKEY* key) const {
    const File certificate_file(std::fopen(certificate(name).c_str(), "w"));
    PEM_write_X509(certificate_file.get(), made);
    const File key_file(std::fopen(this->key(name).c_str(), "w"));
    PEM_write_PrivateKey(key_file.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  }

  const std::string folder_;
  const Key ca_key_;
  Certificate ca_;
  long serial_ = 0;
};

}  // namespace vectable
